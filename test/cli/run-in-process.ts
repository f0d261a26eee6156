import { Readable } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import { runCommandLine } from '../../src/cli/run-command-line.js';
import type { Ended, SluiceOptions } from './run-sluice.js';

/**
 * What the command does and says, without a process of its own: for tests in which a process adds
 * nothing but half a second. Commands that run at the same time share what is said.
 */
export async function runInProcess(
  args: readonly string[],
  { cwd, env, input = '' }: Pick<SluiceOptions, 'cwd' | 'env' | 'input'> = {},
): Promise<Ended> {
  const stdout = hear(process.stdout);
  const stderr = hear(process.stderr);
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(standIn(input));
  // Workers have no folder of their own to change into; forks do.
  const before = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  const giveBack = (): void => {
    process.chdir(before);
    for (const { restore } of [stdout, stderr]) restore();
    stdin.mockRestore();
  };
  onTestFinished(giveBack);
  try {
    const lastActs: (() => Promise<void>)[] = [];
    const code = await runCommandLine(args, {
      environment: { ...env },
      signal: new AbortController().signal,
      lastAct: (act) => lastActs.push(act),
    });
    for (const act of lastActs) await act();
    return { code, signal: null, stdout: stdout.heard(), stderr: stderr.heard().toString() };
  } finally {
    giveBack();
  }
}

/** Takes what is written to a standard stream in place of its reader. */
function hear(stream: NodeJS.WriteStream): { heard(): Buffer; restore(): void } {
  const pieces: Buffer[] = [];
  const write = vi.spyOn(stream, 'write').mockImplementation((piece, ...rest: unknown[]) => {
    pieces.push(Buffer.from(piece));
    const done = rest.find((one) => typeof one === 'function');
    if (done) process.nextTick(done);
    return true;
  });
  return { heard: () => Buffer.concat(pieces), restore: () => write.mockRestore() };
}

function standIn(input: string | Buffer): typeof process.stdin {
  const stream = Readable.from(input.length === 0 ? [] : [Buffer.from(input)]);
  return Object.assign(stream, { isTTY: false, fd: 0 }) as unknown as typeof process.stdin;
}
