import type { Clock } from './clock.js';

interface DeadlineOptions {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal?: AbortSignal;
  /** The error that the work ends with when the time is over. */
  readonly toError: () => Error;
}

/**
 * Does work that must not go on for ever, such as reading a list that always has another page.
 *
 * @throws what the work throws; what `toError` gives
 */
export async function beforeDeadline<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  { clock, ms, signal, toError }: DeadlineOptions,
): Promise<Result> {
  const overdue = new AbortController();
  const done = new AbortController();
  clock.sleep(ms, done.signal).then(
    () => overdue.abort(toError()),
    () => undefined,
  );
  try {
    return await work(signal ? AbortSignal.any([signal, overdue.signal]) : overdue.signal);
  } finally {
    done.abort();
  }
}
