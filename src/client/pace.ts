import { backoffMs } from './backoff.js';
import type { RateLimit } from './rate-limit.js';

/** Waits after answers of 429 that do not say how long. */
const pauseBounds = { firstMs: 1000, longestMs: 60_000 };

/** Two clients that were told the same moment should not meet there again. */
const mostJitterMs = 500;

/** The window that `X-RateLimit-*` speaks of, where it is not said. */
const usualWindowMs = 60_000;

/** Never longer between two requests, whatever the headers seem to say. */
const longestSpacingMs = 60_000;

/** Without a limit beside it, this many remaining requests are few. */
const fewRemaining = 30;

const longestIntervalMs = 5000;
const shortestIntervalMs = 2;

/** How the interval grows with a 429, and shrinks with each other answer: halved after some 140. */
const slowing = 1.3;
const recovery = 0.995;

/** A client that had nothing to ask for so long has not shown what the service bears. */
const idleMs = 10_000;

/**
 * When the next request may go out: the pause after a 429, the interval learned from 429s, and the
 * spacing that `X-RateLimit-*` headers ask for. Knows no timer: the moments are given to it.
 */
export class Pace {
  readonly #random: () => number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  /** Learned from answers of 429. */
  #intervalMs = 0;
  /** Asked for by headers, until the window they speak of is over. */
  #spacing: { readonly ms: number; readonly until: number } | undefined;
  /** Answers of 429 in a row. */
  #throttles = 0;
  #throttledAt = Number.NEGATIVE_INFINITY;
  /** Requests since the latest 429, and since when: how fast was too fast. */
  #starts = 0;
  #countingSince = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The earliest moment at which a request may start; it may have passed. */
  earliestStart(): number {
    const learned = this.#lastStart + this.#intervalMs;
    // A window that ends frees what its spacing held back.
    const spaced = this.#spacing
      ? Math.min(this.#lastStart + this.#spacing.ms, this.#spacing.until)
      : learned;
    return Math.max(this.#pausedUntil, learned, spaced);
  }

  started(now: number): void {
    if (now - this.earliestStart() > idleMs) {
      this.#starts = 0;
      this.#countingSince = now;
    }
    this.#lastStart = now;
    this.#starts += 1;
  }

  /** A 429 came, for a request begun at `startedAt`. */
  throttled(now: number, startedAt: number, retryAfterMs: number | undefined): void {
    // Several requests of one burst are refused together: they are one reason to slow down.
    const isNews = startedAt > this.#throttledAt;
    if (isNews) {
      // While one 429 follows another the pauses grow; the first of them says that we were too fast.
      if (this.#throttles === 0) this.#slowDown(now);
      this.#throttles += 1;
      this.#throttledAt = now;
    }
    this.#pausedUntil = Math.max(this.#pausedUntil, now + this.#pauseMs(isNews, retryAfterMs ?? 0));
  }

  /** An answer came that was no 429. */
  answered(startedAt: number): void {
    if (startedAt <= this.#throttledAt) return;
    this.#throttles = 0;
    this.#intervalMs *= recovery;
    if (this.#intervalMs < shortestIntervalMs) this.#intervalMs = 0;
  }

  /** Headers said how many requests are left; `running` ones may not be counted in them yet. */
  heard(now: number, limits: RateLimit, running: number): void {
    const left = Math.max(0, limits.remaining - running);
    const few = limits.limit === undefined ? fewRemaining : limits.limit / 2;
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
    if (askedMs > 0) return askedMs + this.#random() * mostJitterMs;
    return isNews ? backoffMs(this.#throttles, pauseBounds, this.#random) : 0;
  }

  /**
   * The mean since the last time, its pause included, is what the service has borne: faster than that
   * was too fast.
   */
  #slowDown(now: number): void {
    const borneMs = this.#starts === 0 ? 0 : (now - this.#countingSince) / this.#starts;
    const slower = Math.max(this.#intervalMs * slowing, borneMs, shortestIntervalMs);
    this.#intervalMs = Math.min(slower, longestIntervalMs);
    this.#starts = 0;
    this.#countingSince = now;
  }
}
