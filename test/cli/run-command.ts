import type { Command } from '../../src/cli/command.js';
import { runInProcess } from './run-in-process.js';

export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process to its end, what it prints as text. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const { code, stdout, stderr } = await runInProcess([...command.name.split(' '), ...args], {
    env,
  });
  return { code, stdout: String(stdout), stderr };
}
