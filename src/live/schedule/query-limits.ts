import type { Clock } from '../../platform/waiting/clock.js';

/** How many addresses may be asked for in each span of time. */
export type QueryLimits = Readonly<Partial<Record<keyof typeof spansMs, number>>>;

export const spansMs = {
  second: 1000,
  minute: 60 * 1000,
  hour: 60 * 60 * 1000,
  day: 24 * 60 * 60 * 1000,
} as const;

interface Span {
  readonly ms: number;
  readonly most: number;
  beganMs: number;
  used: number;
}

/** Counts addresses in each second, minute, hour and day since the first one. */
export class QueryBudget {
  readonly #clock: Clock;
  readonly #spans: readonly Span[];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(limits: QueryLimits, clock: Clock) {
    this.#clock = clock;
    this.#spans = (Object.keys(spansMs) as (keyof typeof spansMs)[]).flatMap((name) => {
      const most = limits[name];
      return most === undefined ? [] : [{ ms: spansMs[name], most, beganMs: -Infinity, used: 0 }];
    });
  }

  /**
   * Waits until at least one may be asked for, whoever came first.
   *
   * @returns how many of those wanted may be asked for now
   */
  async grant(wanted: number, signal: AbortSignal): Promise<number> {
    if (this.#spans.length === 0) return wanted;
    const granted = this.#turn.then(async () => this.#grant(wanted, signal));
    this.#turn = granted.catch(() => undefined);
    return granted;
  }

  async #grant(wanted: number, signal: AbortSignal): Promise<number> {
    for (;;) {
      signal.throwIfAborted();
      const now = this.#clock.now();
      for (const span of this.#spans) {
        if (now - span.beganMs < span.ms) continue;
        span.beganMs = now;
        span.used = 0;
      }
      const free = Math.min(...this.#spans.map(({ most, used }) => most - used));
      if (free > 0) {
        const count = Math.min(wanted, free);
        for (const span of this.#spans) span.used += count;
        return count;
      }
      const spent = this.#spans.filter(({ most, used }) => used >= most);
      await this.#clock.sleep(
        Math.max(...spent.map(({ beganMs, ms }) => beganMs + ms - now)),
        signal,
      );
    }
  }
}
