import {
  describeCredits,
  counted,
  grouped,
  startText,
} from '../../../platform/text/shown-numbers.js';
import { describeRetry, type RunStatus } from '../../stores/run-status.js';
import { optionName } from '../../../platform/text/option-name.js';

/** An unfinished run in words. */
export interface DescribedRun {
  /** Where it is: `6 of 18 batches done, 2 being verified, at most 240,000 email credits spent`. */
  readonly soFar: string;
  /** What the same command does next: `goes on, …`. */
  readonly next: string;
}

/**
 * Says where a run is that has stopped or is going on, and what is left of it.
 *
 * @example
 * ```ts
 * const status = await readRunStatus('verified.csv.sluice').catch(() => undefined);
 * if (status) console.log(describeStatus(status).soFar, describeStatus(status).next);
 * ```
 */
export function describeStatus(status: RunStatus): DescribedRun {
  const { rows, batches, done, running, inDoubt, openCredits, isFinished, retry } = status;
  const paid = describePaid(status);
  if (isFinished) {
    const again = describeRetry(retry);
    return {
      soFar: `the output is written, ${paid}`,
      // What is paid for is not dropped by starting over.
      next: `${retry.exports > 0 ? '' : 'starts over, or '}with ${optionName('retryFailed')} ${again}`,
    };
  }
  if (rows === null) return { soFar: 'the input was not read to its end', next: 'starts over' };
  const places = [`${done} of ${counted(batches, 'batch')} done`];
  const sure = running - inDoubt;
  const verified = status.stages['done'] ?? 0;
  if (sure > verified) places.push(`${sure - verified} being verified`);
  if (verified > 0) places.push(`${verified} verified, results to be fetched`);
  if (inDoubt > 0) places.push(`${inDoubt} without an answer to the launch`);
  const steps: string[] = [];
  if (sure > 0) steps.push(`fetches the results of ${counted(sure, 'paid batch')}`);
  if (inDoubt > 0) steps.push(`asks what came of ${counted(inDoubt, 'launch')}`);
  const waiting = batches - done - running;
  const price = describeCredits(openCredits);
  if (waiting > 0) {
    steps.push(`launches ${grouped(waiting)} more (at most ${price ?? '0 credits'})`);
  }
  if (steps.length === 0) steps.push('writes the output');
  const joined = [...(steps.length > 1 ? [steps.slice(0, -1).join(', ')] : []), ...steps.slice(-1)];
  return { soFar: [...places, paid].join(', '), next: `goes on, ${joined.join(' and ')}` };
}

/**
 * When a run began, as a person at this machine says it: `03:15`, and the day where it is another.
 *
 * @example
 * ```ts
 * const status = await readRunStatus('verified.csv.sluice').catch(() => undefined);
 * if (status) console.log('the run began at', describeStart(status));
 * ```
 */
export function describeStart(
  { startedAt }: Pick<RunStatus, 'startedAt'>,
  now = new Date(),
): string {
  return startText(startedAt, now);
}

function describePaid({ launchedCredits, doubtfulCredits }: RunStatus): string {
  const spent = describeCredits({
    email: launchedCredits.email - doubtfulCredits.email,
    phone: launchedCredits.phone - doubtfulCredits.phone,
  });
  const doubtful = describeCredits(doubtfulCredits);
  // What was launched may be refunded in part.
  const sure = spent === undefined ? 'no credits spent' : `at most ${spent} spent`;
  return doubtful === undefined ? sure : `${sure}, up to ${doubtful} in doubt`;
}
