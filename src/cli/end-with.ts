import { describeError } from './describe-error.js';
import { exitCodeOf } from './exit-code.js';
import { sayLines } from './print.js';

/** What work ends with; a failure is said on standard error. */
export async function endWith(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    sayLines(`${describeError(error)}\n`);
    return exitCodeOf(error);
  }
}
