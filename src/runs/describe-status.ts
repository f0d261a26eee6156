import { grouped } from '../words/shown-numbers.js';
import type { RunStatus } from './run-status.js';

/** An unfinished run in words. */
export interface DescribedRun {
  /** Where it is: `6 of 18 batches done, 2 being verified, 240,000 email credits spent`. */
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
  const { rows, batches, done, running, launchedCredits, openCredits, isFinished } = status;
  const spent = describeCredits(launchedCredits);
  const paid = spent === undefined ? 'no credits spent' : `${spent} spent`;
  if (isFinished) {
    return {
      soFar: `the output is written, ${paid}`,
      next: 'starts over, or with `retryFailed` sends again only what failed',
    };
  }
  if (rows === null) return { soFar: 'the input was not read to its end', next: 'starts over' };
  const places = [`${done} of ${counted(batches, 'batch')} done`];
  if (running > 0) places.push(`${running} being verified`);
  const steps: string[] = [];
  if (running > 0) steps.push(`fetches the results of ${counted(running, 'paid batch')}`);
  const waiting = batches - done - running;
  const price = describeCredits(openCredits);
  if (waiting > 0) {
    steps.push(`launches ${waiting} more (at most ${price ?? '0 credits'})`);
  }
  if (steps.length === 0) steps.push('writes the output');
  return { soFar: [...places, paid].join(', '), next: `goes on, ${steps.join(' and ')}` };
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
export function describeStart({ startedAt }: RunStatus, now = new Date()): string {
  const at = new Date(startedAt);
  const [day, today] = [at, now].map(
    (date) =>
      `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`,
  );
  const time = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
  return day === today ? time : `${day} ${time}`;
}

/** @returns `undefined` for none */
function describeCredits({ email, phone }: RunStatus['openCredits']): string | undefined {
  if (email > 0 && phone > 0) {
    return `${grouped(email)} email and ${grouped(phone)} phone credits`;
  }
  if (email === 0 && phone === 0) return undefined;
  return email > 0 ? `${grouped(email)} email credits` : `${grouped(phone)} phone credits`;
}

function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 'es'}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
