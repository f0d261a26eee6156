import { Alarm, type Clock } from '../../platform/waiting/clock.js';

export type Awaiting = 'connection' | 'sending' | 'answer' | 'body' | 'total';

/** Watches one request: progress within each limit, and the end within the total. */
export class Watchdog {
  readonly #clock: Clock;
  readonly #onTimeout: (awaited: Awaiting, limitMs: number) => void;
  readonly #totalMs: number;
  readonly #totalAt: number;
  readonly #alarm: Alarm;
  #awaited: Awaiting = 'connection';
  #limitMs = Number.POSITIVE_INFINITY;
  #deadline = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #release: (() => void) | undefined;

  /** `onTimeout` is called at most once, with what was awaited and the limit that was exceeded. */
  constructor(
    clock: Clock,
    options: {
      readonly totalMs?: number | undefined;
      readonly hold?: Clock['hold'];
      readonly onTimeout: (awaited: Awaiting, limitMs: number) => void;
    },
  ) {
    this.#clock = clock;
    this.#onTimeout = options.onTimeout;
    this.#totalMs = options.totalMs ?? Number.POSITIVE_INFINITY;
    this.#totalAt = clock.now() + this.#totalMs;
    this.#alarm = new Alarm(clock, () => this.#watch());
    this.#release = options.hold?.();
  }

  expect(awaited: Awaiting, limitMs: number): void {
    this.#awaited = awaited;
    this.#limitMs = limitMs;
    this.#deadline = this.#clock.now() + limitMs;
    this.#watch();
  }

  /** Pauses the limit while this side works: only the total goes on. */
  suspend(): void {
    this.#deadline = Number.POSITIVE_INFINITY;
  }

  stop(): void {
    this.#isStopped = true;
    this.#alarm.stop();
    this.#release?.();
    this.#release = undefined;
  }

  /** At most one timer: a restarted limit leaves it running, and one that fires too early is set again for the rest. */
  #watch(): void {
    if (this.#isStopped) return;
    const now = this.#clock.now();
    const next = Math.min(this.#deadline, this.#totalAt);
    if (next > now) {
      if (next < this.#alarm.at) this.#alarm.set(next);
      return;
    }
    this.stop();
    if (this.#totalAt <= now) this.#onTimeout('total', this.#totalMs);
    else this.#onTimeout(this.#awaited, this.#limitMs);
  }
}
