import type { Writable } from 'node:stream';
import { describeError, errorEvent } from './messages/describe-error.js';
import { exitCodeOf } from './exit-code.js';
import { say, sayLines } from './terminal/print.js';

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
