import { Alarm, type Clock } from '../../platform/waiting/clock.js';

/** What a request waits for when it takes too long. */
export type Awaited = 'connection' | 'sending' | 'answer' | 'body' | 'total';

/** Watches one request: something must happen within each limit, and all of it within the total. */
export class Watchdog {
  readonly #clock: Clock;
  readonly #bark: (awaited: Awaited, limitMs: number) => void;
  readonly #totalMs: number;
  readonly #totalAt: number;
  readonly #alarm: Alarm;
  #awaited: Awaited = 'connection';
  #limitMs = Number.POSITIVE_INFINITY;
  #deadline = Number.POSITIVE_INFINITY;
  #isStopped = false;

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
    this.#alarm = new Alarm(clock, () => this.#watch());
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
    this.#alarm.stop();
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
      if (next < this.#alarm.at) this.#alarm.set(next);
      return;
    }
    this.stop();
    if (this.#totalAt <= now) this.#bark('total', this.#totalMs);
    else this.#bark(this.#awaited, this.#limitMs);
  }
}
