import type { Writable } from 'node:stream';
import { version } from '../../index.js';
import type { Surroundings } from '../command.js';
import { exitCodeOf, exitCodes, abortOnSignals, type Interruption } from './exit-code.js';
import { outliveClosedPipes, print, printed } from '../terminal/print.js';

interface ProcessWork {
  /** @returns the exit code */
  readonly work: () => Promise<number>;
  readonly failed: (error: unknown) => void;
  /** Called when a second signal ends the process at once. @default nothing */
  readonly forced?: (interruption: Interruption) => void;
  /** @default Node prints it, in lines of its own */
  readonly warned?: (warning: Error) => void;
}

export async function start(begin: (surroundings: Surroundings) => ProcessWork): Promise<never> {
  // If the event loop runs empty with a promise pending, the process ends with this code, not 0.
  process.exitCode = exitCodes.defect;
  outliveClosedPipes(process);
  const lastActs: (() => Promise<void>)[] = [];
  const surroundings: Surroundings = {
    argv: process.argv,
    env: process.env,
    // Relative: the folder itself may be gone.
    cwd: '.',
    stdin: () => process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    clock: { now: () => performance.now(), wallNow: () => Date.now() },
    signals: process,
    signal: abortOnSignals(process, (interruption) => forced?.(interruption)),
    lastAct: (act) => lastActs.push(act),
  };
  const { work, failed, forced, warned } = begin(surroundings);
  process.on('uncaughtException', (error) => {
    failed(error);
    process.exit(exitCodes.defect);
  });
  if (warned) {
    process.removeAllListeners('warning');
    process.on('warning', warned);
  }
  const exitCode = await work();
  await printed(process);
  const lastCode = await endWith(async () => {
    for (const act of lastActs) await act();
    return exitCode;
  }, failed);
  // At once, not after the engine's teardown: nothing may be killed after the last act.
  return process.exit(lastCode);
}

/** The exit code of the work. @param failed reports why it failed */
export async function endWith(
  work: () => Promise<number>,
  failed: (error: unknown) => void,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    failed(error);
    return exitCodeOf(error);
  }
}

export function asksVersion([first]: readonly string[]): boolean {
  return first === '--version' || first === '-V';
}

export async function printVersion(out: Writable): Promise<number> {
  await print(`${version}\n`, out);
  return exitCodes.done;
}
