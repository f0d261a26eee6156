import type { Writable } from 'node:stream';
import { version } from '../index.js';
import type { Surroundings } from './command.js';
import { exitCodeOf, exitCodes, abortOnSignals } from './exit-code.js';
import { describeError, errorEvent } from './messages/describe-error.js';
import { outliveClosedPipes, print, printed, say, sayLines } from './terminal/print.js';

/** Does the work of this process, and ends it with the exit code that this gives. */
export async function start(work: (surroundings: Surroundings) => Promise<number>): Promise<never> {
  // An event loop that runs dry with a promise still open ends the process with this code, not with 0.
  process.exitCode = exitCodes.defect;
  outliveClosedPipes(process);
  const lastActs: (() => Promise<void>)[] = [];
  const exitCode = await work({
    argv: process.argv,
    env: process.env,
    // As paths are written: the folder itself may be gone.
    cwd: '.',
    stdin: () => process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    clock: { now: () => performance.now(), wallNow: () => Date.now() },
    signals: process,
    signal: abortOnSignals(process),
    lastAct: (act) => lastActs.push(act),
  });
  await printed(process);
  const lastCode = await endWith(async () => {
    for (const act of lastActs) await act();
    return exitCode;
  }, process.stderr);
  // At once, not after the engine has been taken down: behind the last act nothing may be killed.
  return process.exit(lastCode);
}

/**
 * What work ends with; a failure is said.
 *
 * @param log what time it is, where standard error is a log. @default it is for people
 */
export async function endWith(
  work: () => Promise<number>,
  out: Writable,
  log?: { readonly wallNow: () => number },
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (log) {
      const time = new Date(log.wallNow()).toISOString();
      say(JSON.stringify({ time, event: 'error', ...errorEvent(error) }), out);
    } else sayLines(`${describeError(error)}\n`, out);
    return exitCodeOf(error);
  }
}

export function asksVersion([first]: readonly string[]): boolean {
  return first === '--version' || first === '-V';
}

/** @returns the exit code */
export async function printVersion(out: Writable): Promise<number> {
  await print(`${version}\n`, out);
  return exitCodes.done;
}
