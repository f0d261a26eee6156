import { performance } from 'node:perf_hooks';
import { onAbort } from './promises.js';
import { randomInt } from 'node:crypto';

/** Time for everything that waits: a parameter, so that tests can simulate days. */
export interface Clock {
  /** Monotonic milliseconds: setting the machine's clock does not move deadlines. */
  now(): number;
  /** Milliseconds since the epoch by the machine's clock: only for comparison with dates. */
  wallNow(): number;
  /**
   * Waits, keeping the process alive; returns at once for a time in the past.
   *
   * @throws the signal's own reason as soon as it aborts
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * How many times faster than time it moves. A service takes real time: where a client's limits for its answers
   * are not given, they are as much longer, and nothing warns of its silence.
   *
   * @default 1
   */
  readonly speed?: number;
  /**
   * Called while an answer is awaited, which takes real time: a clock that is moved by hand stays where it is.
   *
   * @returns ends that
   */
  hold?(): () => void;
}

/** A longer timer fires at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  sleep: async (ms, signal) => {
    // Node.js warns about a negative delay.
    let leftMs = Math.max(0, ms);
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
      // The reason is the caller's.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      reject(reason);
    });
  });
}

/** One shared reason: an error for each unneeded sleep would cost more than the timer. */
export const notAwaited = new Error('nothing is waited for any more');

/** Fires at one moment, which can be moved or cleared. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #sleep: { readonly at: number; readonly end: AbortController } | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  get isSet(): boolean {
    return this.#sleep !== undefined;
  }

  /** When it fires; infinity while it is not set. */
  get at(): number {
    return this.#sleep?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Fires at this moment instead of the one set before. */
  set(at: number): void {
    if (at === this.at) return;
    this.stop();
    if (at === Number.POSITIVE_INFINITY) return;
    const sleep = { at, end: new AbortController() };
    this.#sleep = sleep;
    this.#clock.sleep(at - this.#clock.now(), sleep.end.signal).then(
      () => {
        if (this.#sleep !== sleep) return;
        this.#sleep = undefined;
        this.#ring();
      },
      // Only our own signal ends the sleep: another has begun, or none is needed.
      () => undefined,
    );
  }

  stop(): void {
    this.#sleep?.end.abort(notAwaited);
    this.#sleep = undefined;
  }
}

interface DeadlineOptions {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal?: AbortSignal;
  readonly toError: () => Error;
}

/** Bounds work that might never end, such as reading a list that always has another page. */
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
    done.abort(notAwaited);
  }
}

const lastWaitMs = 5000;

/**
 * Calls what a caller has given for the end of the work: an abort ends nothing any more, but a function that never
 * answers does not keep the work beyond some seconds.
 *
 * @throws the signal's reason, then
 */
export async function callDespiteAbort(
  call: () => unknown,
  {
    signal,
    clock = systemClock,
  }: { readonly signal?: AbortSignal | undefined; readonly clock?: Clock | undefined },
): Promise<void> {
  const over = new AbortController();
  let forget = (): void => undefined;
  const late = new Promise<unknown>((resolve) => {
    forget = onAbort(signal, resolve);
    if (signal?.aborted === true) resolve(signal.reason);
  }).then(async (reason) => {
    await clock.sleep(lastWaitMs, over.signal);
    throw reason;
  });
  try {
    await Promise.race([(async () => call())(), late]);
  } finally {
    forget();
    over.abort(notAwaited);
  }
}

export function systemRandom(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}

const growth = 1.5;
const longestMs = 30_000;
const jitter = 0.2;

interface PollWait {
  readonly intervalMs: number;
  readonly random: () => number;
}

/** The wait before the n-th poll of a stage (from 0), in milliseconds: grows from the interval by half each time. */
export function pollWaitMs(poll: number, options: PollWait): number {
  return boundedWaitMs(options.intervalMs * growth ** Math.min(poll, 64), options);
}

/** A wait between polls: at most half a minute or the interval, whichever is longer; jitter only lengthens it. */
export function boundedWaitMs(ms: number, { intervalMs, random }: PollWait): number {
  return Math.min(ms, Math.max(longestMs, intervalMs)) * (1 + jitter * random());
}
