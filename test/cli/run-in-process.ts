import { PassThrough, Readable } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import { runCommandLine } from '../../src/cli/run-command-line.js';
import { Somebody, type AtTerminal, type TerminalOptions } from './at-terminal.js';
import type { Ended, SluiceOptions } from './run-sluice.js';

/**
 * What the command does and says, without a process of its own: for tests in which a process adds
 * nothing but half a second. Commands that run at the same time share what is said.
 */
export async function runInProcess(
  args: readonly string[],
  { cwd, env, input = '' }: Pick<SluiceOptions, 'cwd' | 'env' | 'input'> = {},
): Promise<Ended> {
  const pieces = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const code = await runHere(args, {
    cwd,
    env,
    stdin: standIn(input),
    hear: (stream, piece) => pieces[stream].push(piece),
  });
  const [stdout, stderr] = [Buffer.concat(pieces.stdout), Buffer.concat(pieces.stderr)];
  return { code, signal: null, stdout, stderr: stderr.toString() };
}

/** The same with streams that say they are a terminal, for tests in which a real one adds nothing. */
export async function answerInProcess(
  args: readonly string[],
  { cwd, env, answers }: TerminalOptions,
): Promise<AtTerminal> {
  const own = { isTTY: true, fd: 0, setRawMode: () => undefined };
  const keyboard = Object.assign(new PassThrough(), own);
  const somebody = new Somebody(answers, (keys) => keyboard.write(keys));
  const terminals = [process.stdout, process.stderr];
  const before = terminals.map((stream) => stream.isTTY);
  const giveBack = (): void => {
    for (const [at, stream] of terminals.entries()) stream.isTTY = before[at] === true;
  };
  onTestFinished(giveBack);
  for (const stream of terminals) stream.isTTY = true;
  try {
    const code = await runHere(args, {
      cwd,
      env,
      stdin: keyboard as unknown as typeof process.stdin,
      hear: (_, piece) => somebody.see(piece.toString()),
    });
    return { code, seen: somebody.seen() };
  } finally {
    giveBack();
  }
}

interface Surroundings {
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly stdin: typeof process.stdin;
  readonly hear: (stream: 'stdout' | 'stderr', piece: Buffer) => void;
}

/** @returns the exit code */
async function runHere(
  args: readonly string[],
  { cwd, env, stdin, hear }: Surroundings,
): Promise<number> {
  const replaced = [
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin),
    listen(process.stdout, (piece) => hear('stdout', piece)),
    listen(process.stderr, (piece) => hear('stderr', piece)),
  ];
  // Workers have no folder of their own to change into; forks do.
  const before = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  const giveBack = (): void => {
    process.chdir(before);
    for (const spy of replaced) spy.mockRestore();
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
    return code;
  } finally {
    giveBack();
  }
}

/** Takes what is written to a standard stream in place of its reader. */
function listen(
  stream: NodeJS.WriteStream,
  hear: (piece: Buffer) => void,
): { mockRestore(): void } {
  return vi.spyOn(stream, 'write').mockImplementation((piece, ...rest: unknown[]) => {
    hear(Buffer.from(piece));
    const done = rest.find((one) => typeof one === 'function');
    if (done) process.nextTick(done);
    return true;
  });
}

function standIn(input: string | Buffer): typeof process.stdin {
  const stream = Readable.from(input.length === 0 ? [] : [Buffer.from(input)]);
  return Object.assign(stream, { isTTY: false, fd: 0 }) as unknown as typeof process.stdin;
}
