import type { Clock } from '../system/clock.js';

/** What a request waits for when it takes too long. */
export type Awaited = 'connection' | 'sending' | 'answer' | 'body' | 'total';

/** Watches one request: something must happen within each limit, and all of it within the total. */
export class Watchdog {
  readonly #clock: Clock;
  readonly #bark: (awaited: Awaited, limitMs: number) => void;
  readonly #totalMs: number;
  readonly #totalAt: number;
  #awaited: Awaited = 'connection';
  #limitMs = Number.POSITIVE_INFINITY;
  #deadline = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #sleep: { readonly until: number; readonly end: AbortController } | undefined;

  /** `bark` is called at most once, with what was waited for and the limit that is over. */
  constructor(
    clock: Clock,
    options: {
      readonly totalMs?: number | undefined;
      readonly bark: (awaited: Awaited, limitMs: number) => void;
    },
  ) {
    this.#clock = clock;
    this.#bark = options.bark;
    this.#totalMs = options.totalMs ?? Number.POSITIVE_INFINITY;
    this.#totalAt = clock.now() + this.#totalMs;
  }

  /** From now on this is waited for, and starts over. */
  expect(awaited: Awaited, limitMs: number): void {
    this.#awaited = awaited;
    this.#limitMs = limitMs;
    this.#deadline = this.#clock.now() + limitMs;
    this.#watch();
  }

  /** What is waited for now lies on this side: only the total runs on. */
  suspend(): void {
    this.#deadline = Number.POSITIVE_INFINITY;
  }

  stop(): void {
    this.#isStopped = true;
    this.#sleep?.end.abort(notAwaited);
    this.#sleep = undefined;
  }

  /**
   * One sleeping timer at most: a limit that starts over leaves it asleep, and when it wakes too early
   * it goes back to sleep for what is left.
   */
  #watch(): void {
    if (this.#isStopped) return;
    const now = this.#clock.now();
    const next = Math.min(this.#deadline, this.#totalAt);
    if (next > now) {
      this.#sleepUntil(next, now);
      return;
    }
    this.stop();
    if (this.#totalAt <= now) this.#bark('total', this.#totalMs);
    else this.#bark(this.#awaited, this.#limitMs);
  }

  #sleepUntil(until: number, now: number): void {
    if (until === Number.POSITIVE_INFINITY) return;
    if (this.#sleep && this.#sleep.until <= until) return;
    this.#sleep?.end.abort(notAwaited);
    const sleep = { until, end: new AbortController() };
    this.#sleep = sleep;
    this.#clock.sleep(until - now, sleep.end.signal).then(
      () => {
        if (this.#sleep === sleep) this.#sleep = undefined;
        this.#watch();
      },
      // Only our own signal ends it: another sleep has begun, or none is needed.
      () => undefined,
    );
  }
}

/** One reason for all: an error of its own for each answer in time would cost more than the timer. */
const notAwaited = new Error('nothing is waited for any more');
