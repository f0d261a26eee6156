import { backoffMs } from './backoff.js';
import { LearnedRate } from './learned-rate.js';
import type { RateLimit } from './rate-limit.js';

/** Waits after answers of 429 that do not say how long. */
const pauseBounds = { firstMs: 1000, longestMs: 60_000 };

/** Two clients that were told the same moment should not meet there again: a tenth later, at most so much. */
const jitterShare = 0.1;
const mostJitterMs = 500;

/** The window that `X-RateLimit-*` speaks of, where it is not said. */
const usualWindowMs = 60_000;

/** Never longer between two requests, whatever the headers seem to say. */
const longestSpacingMs = 60_000;

/** Without a limit beside it, this many remaining requests are few. */
const fewRemaining = 30;

/** A client that had nothing to ask for so long has not shown meanwhile what the service bears. */
const idleMs = 1000;

/**
 * When the next request may go out: the pause after a 429, the rate learned from 429s, and the spacing that
 * `X-RateLimit-*` headers ask for. Knows no timer: the moments are given to it.
 */
export class Pace {
  readonly #random: () => number;
  readonly #rate = new LearnedRate();
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  /** Asked for by headers, until the window they speak of is over. */
  #spacing: { readonly ms: number; readonly until: number } | undefined;
  /** Answers of 429 in a row. */
  #throttles = 0;
  #throttledAt = Number.NEGATIVE_INFINITY;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The earliest moment at which a request may start; it may have passed. */
  earliestStart(): number {
    const learned = this.#rate.next(this.#lastStart);
    // A window that ends frees what its spacing held back.
    const spaced = this.#spacing
      ? Math.min(this.#lastStart + this.#spacing.ms, this.#spacing.until)
      : learned;
    return Math.max(this.#pausedUntil, learned, spaced);
  }

  started(now: number): void {
    const unaskedMs = now - Math.max(this.earliestStart(), this.#lastStart);
    if (unaskedMs > idleMs) this.#rate.idled(unaskedMs);
    this.#lastStart = now;
  }

  /** A 429 came, for a request begun at `startedAt`. */
  throttled(now: number, startedAt: number, retryAfterMs: number | undefined): void {
    // Several requests of one burst are refused together: they are one reason to slow down.
    const isNews = startedAt > this.#throttledAt;
    if (isNews) {
      this.#throttles += 1;
      this.#throttledAt = now;
    }
    const askedMs = retryAfterMs ?? 0;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + this.#pauseMs(isNews, askedMs));
    if (isNews) this.#rate.refused(now, this.#pausedUntil, askedMs > 0);
    else this.#rate.refusedToo(this.#pausedUntil);
  }

  /** An answer came that was no 429. */
  answered(startedAt: number): void {
    if (startedAt <= this.#throttledAt) {
      this.#rate.spared();
      return;
    }
    this.#rate.taken();
    this.#throttles = 0;
  }

  /** Headers said how many requests are left; `running` ones may not be counted in them yet. */
  heard(now: number, limits: RateLimit, running: number): void {
    const left = Math.max(0, limits.remaining - running);
    const few = limits.limit === undefined ? fewRemaining : limits.limit / 10;
    if (left > few) {
      this.#spacing = undefined;
      return;
    }
    const windowMs = limits.resetMs ?? usualWindowMs;
    const ms = Math.min(windowMs / (left + 1), longestSpacingMs);
    this.#spacing = { ms, until: now + windowMs };
    if (left === 0 && limits.resetMs !== undefined) {
      this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    }
  }

  #pauseMs(isNews: boolean, askedMs: number): number {
    if (askedMs > 0) {
      return askedMs + this.#random() * Math.min(mostJitterMs, askedMs * jitterShare);
    }
    return isNews ? backoffMs(this.#throttles, pauseBounds, this.#random) : 0;
  }
}
