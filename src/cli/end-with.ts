import type { Writable } from 'node:stream';
import { describeError } from './messages/describe-error.js';
import { exitCodeOf } from './exit-code.js';
import { sayLines } from './terminal/print.js';

/** What work ends with; a failure is said. */
export async function endWith(work: () => Promise<number>, out: Writable): Promise<number> {
  try {
    return await work();
  } catch (error) {
    sayLines(`${describeError(error)}\n`, out);
    return exitCodeOf(error);
  }
}
