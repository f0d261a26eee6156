import { performance } from 'node:perf_hooks';
import { onAbort } from './on-abort.js';

/** Time as everything that waits sees it: a parameter, so that days can be simulated in a test. */
export interface Clock {
  /** Monotonic milliseconds: deadlines do not move when the machine's clock is set. */
  now(): number;
  /** Milliseconds since the epoch, as the machine's clock has it: only to compare with dates. */
  wallNow(): number;
  /**
   * Waits, and keeps the process alive meanwhile.
   *
   * @throws the signal's own reason, untouched, as soon as it aborts
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A timer set for longer than this fires at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  sleep: async (ms, signal) => {
    let leftMs = ms;
    for (; leftMs > longestTimerMs; leftMs -= longestTimerMs) await pause(longestTimerMs, signal);
    await pause(leftMs, signal);
  },
};

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = onAbort(signal, (reason) => {
      clearTimeout(timer);
      // The reason is the caller's, whatever it is.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      reject(reason);
    });
  });
}
