import type { Clock } from '../../../platform/waiting/clock.js';

const longestBeatMs = 1000;
/** A process that waits looks again after this part of the time between two signs of life. */
const soonest = 0.1;

export interface HeartbeatOptions {
  readonly clock: Clock;
  /** How long the store keeps a claim without a sign of life. */
  readonly leaseMs: number;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Whether the process has nothing to do but what comes when others are further. */
  readonly isWaiting: () => boolean;
  /** Comes before each sign of life, also while one has no answer yet. @returns whether it goes on */
  readonly tick: () => boolean;
  /** Gives a sign of life. Never fails. */
  readonly beat: () => Promise<void>;
}

/** Gives signs of life. A process that waits looks more often than it has to, as long as there is news. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** The time between two signs of life that are needed. */
  readonly intervalMs: number;
  #lookMs = 0;
  /** Ends the pause before the next. */
  #pause = new AbortController();

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.intervalMs = Math.min(longestBeatMs, options.leaseMs / 3);
    this.hurry();
  }

  /** There was news: more may come soon. */
  hurry(): void {
    this.#lookMs = this.intervalMs * soonest;
  }

  /** Where the process has nothing else to do any more, it looks at once. */
  lookNow(): void {
    if (this.#options.isWaiting()) this.#pause.abort();
  }

  async run(): Promise<void> {
    const { clock, signal, isWaiting, tick, beat } = this.#options;
    let beating: Promise<void> | undefined;
    for (;;) {
      this.#pause = new AbortController();
      const woken = AbortSignal.any([signal, this.#pause.signal]);
      await clock.sleep(isWaiting() ? this.#lookMs : this.intervalMs, woken).catch(() => undefined);
      if (signal.aborted) return;
      this.#lookMs = Math.min(this.intervalMs, this.#lookMs * 1.5);
      if (!tick()) return;
      beating ??= beat().finally(() => {
        beating = undefined;
      });
    }
  }
}
