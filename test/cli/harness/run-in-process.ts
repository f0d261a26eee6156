import { EventEmitter } from 'node:events';
import { PassThrough, Readable, Writable } from 'node:stream';
import type { Surroundings } from '../../../src/cli/command.js';
import { nameOptionsBy } from '../../../src/platform/text/sentence.js';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { Somebody, type AtTerminal, type TerminalOptions } from './at-terminal.js';
import { loggedEvent, type LoggedEvent } from './logged-events.js';
import type { Ended, SluiceOptions } from './run-sluice.js';

/**
 * What the command does and says, without a process of its own: for tests in which a process adds
 * nothing but half a second.
 */
export async function runInProcess(
  args: readonly string[],
  {
    cwd,
    env,
    input = '',
    signal,
  }: Pick<SluiceOptions, 'cwd' | 'env' | 'input'> & Pick<Given, 'signal'> = {},
): Promise<EndedHere> {
  const [stdout, stderr] = [[] as Buffer[], [] as Buffer[]];
  const { code, events } = await runHere(args, {
    cwd,
    env,
    signal,
    stdin: Readable.from(input.length === 0 ? [] : [Buffer.from(input)]),
    stdout: listenerFor((piece) => stdout.push(piece)),
    stderr: listenerFor((piece) => stderr.push(piece)),
  });
  return {
    code,
    signal: null,
    stdout: Buffer.from(asReadIn(cwd, Buffer.concat(stdout).toString('latin1')), 'latin1'),
    stderr: asReadIn(cwd, Buffer.concat(stderr).toString()),
    events,
  };
}

/** The same with streams that say they are a terminal, for tests in which a real one adds nothing. */
export async function answerInProcess(
  args: readonly string[],
  { cwd, env, answers, columns = 1000 }: TerminalOptions & { readonly columns?: number },
): Promise<AtTerminal & WithEvents> {
  const ofTerminal = { isTTY: true, columns, setRawMode: () => undefined };
  const keyboard = Object.assign(new PassThrough(), ofTerminal);
  const somebody = new Somebody(answers, (keys) => keyboard.write(keys));
  const screen = Object.assign(
    listenerFor((piece) => somebody.see(asReadIn(cwd, piece.toString()))),
    ofTerminal,
  );
  const ended = await runHere(args, { cwd, env, stdin: keyboard, stdout: screen, stderr: screen });
  return { ...ended, seen: somebody.seen() };
}

/** What was reported on standard error, as events. */
interface WithEvents {
  readonly events: readonly LoggedEvent[];
}

export interface EndedHere extends Ended, WithEvents {}

interface Given {
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly signal?: AbortSignal | undefined;
}

/** Commands that run now: while there are any, texts name options by their flags. */
let running = 0;

async function runHere(
  args: readonly string[],
  { cwd = '.', env, stdin, stdout, stderr, signal = new AbortController().signal }: Given,
): Promise<{ readonly code: number } & WithEvents> {
  const events: LoggedEvent[] = [];
  const lastActs: (() => Promise<void>)[] = [];
  running += 1;
  const code = await runCommandLine({
    argv: ['node', 'sluice', ...args],
    env: { ...env },
    cwd,
    stdin: () => stdin as NodeJS.ReadStream,
    stdout: stdout as Surroundings['stdout'],
    stderr: stderr as Surroundings['stderr'],
    clock: { now: () => performance.now(), wallNow: () => Date.now() },
    signals: new EventEmitter(),
    signal,
    lastAct: (act) => lastActs.push(act),
    onMessage: (message) => events.push(loggedEvent(message)),
  }).finally(() => {
    running -= 1;
    if (running === 0) nameOptionsBy(() => undefined);
  });
  for (const act of lastActs) await act();
  return { code, events: JSON.parse(asReadIn(cwd, JSON.stringify(events))) as LoggedEvent[] };
}

function listenerFor(listen: (piece: Buffer) => unknown): Writable {
  return new Writable({
    write(piece: Buffer, _encoding, done) {
      listen(piece);
      done();
    },
  });
}

/** What is reported to somebody in that folder: to this process, which is in another, paths are said whole. */
function asReadIn(cwd: string | undefined, text: string): string {
  return cwd === undefined ? text : text.replaceAll(`${cwd}/`, '');
}
