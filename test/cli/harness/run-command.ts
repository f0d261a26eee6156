import type { Command } from '../../../src/cli/command.js';
import type { LoggedEvent } from './logged-events.js';
import { runInProcess } from './run-in-process.js';

export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly events: readonly LoggedEvent[];
}

/** Runs a command in this process to its end, what it prints as text. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { code, stdout, stderr, events } = await runInProcess(
    [...command.name.split(' '), ...args],
    {
      env,
    },
  );
  return { code, stdout: String(stdout), stderr, events };
}
