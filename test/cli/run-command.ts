import { vi } from 'vitest';
import type { Command } from '../../src/cli/command.js';
import { describeError } from '../../src/cli/describe-error.js';
import { exitCodeOf } from '../../src/cli/exit-code.js';
import { parseCommandLine } from '../../src/cli/parse-command-line.js';

export interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process to its end, and catches all that it says. */
export async function runCommand(
  command: Command,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandEnd> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const spies = [catchWrites(process.stdout, stdout), catchWrites(process.stderr, stderr)];
  const lastActs: (() => Promise<void>)[] = [];
  let code: number;
  try {
    const { positionals, options } = parseCommandLine(command, args);
    const { signal } = new AbortController();
    const lastAct = (act: () => Promise<void>): void => void lastActs.push(act);
    code = await command.run({ positionals, options, environment, signal, lastAct });
  } catch (error) {
    stderr.push(Buffer.from(`${describeError(error)}\n`));
    code = exitCodeOf(error);
  } finally {
    for (const act of lastActs) await act();
    for (const spy of spies) spy.mockRestore();
  }
  return { code, stdout: String(Buffer.concat(stdout)), stderr: String(Buffer.concat(stderr)) };
}

function catchWrites(stream: NodeJS.WriteStream, into: Buffer[]): { mockRestore(): void } {
  const write = (piece: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    into.push(Buffer.from(piece as Uint8Array));
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(() => void done());
    return true;
  };
  return vi.spyOn(stream, 'write').mockImplementation(write as typeof stream.write);
}
