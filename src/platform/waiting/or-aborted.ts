import { onAbort } from './on-abort.js';

/**
 * Waits for work that may never end, or that others wait for too, and no longer than the signal lets it:
 * whoever gives up leaves, and the work goes on.
 *
 * @throws what the work throws; the signal's own reason, untouched
 */
export async function orAborted<Value>(work: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject);
    // The reason is the caller's, whatever it is.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    if (signal.aborted) reject(signal.reason);
    work.then(resolve, reject).finally(forget);
  });
}
