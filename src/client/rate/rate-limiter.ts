import { AdaptiveRate } from './adaptive-rate.js';
import type { RateLimit } from './rate-headers.js';

/** Bounds of a wait that doubles with every failure. */
interface BackoffBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * How long to wait after the n-th failure in a row (counted from 1), in milliseconds: doubling, and
 * between half and all of it at random, so that many clients do not come back as one.
 */
export function backoffMs(failures: number, bounds: BackoffBounds, random: () => number): number {
  const whole = Math.min(bounds.longestMs, bounds.firstMs * 2 ** Math.max(0, failures - 1));
  return whole / 2 + (whole / 2) * random();
}

/** Waits after answers of 429 that do not say how long. */
const pauseBounds = { firstMs: 1000, longestMs: 60_000 };

/** Two clients that were given the same moment should not meet there again: a tenth later, at most so much. */
const jitterShare = 0.1;
const mostJitterMs = 500;

/** The window that `X-RateLimit-*` speaks of, where it is not said. */
const usualWindowMs = 60_000;

/** Never longer between two requests, whatever the headers seem to say. */
const longestSpacingMs = 60_000;

/** Without a limit beside it, this many remaining requests are few. */
const fewRemaining = 30;

/** A given rate holds in every minute, though one request may travel so much longer than another. */
const travelMs = 1000;

/** A pause of others that is so much longer is news. */
const newsMs = 500;

/** A client that had nothing to ask for so long has not shown meanwhile what the service bears. */
const idleMs = 1000;

/** From one request to the next, in milliseconds, where so many are sent in a minute at most. */
export function intervalOf(requestsPerMinute: number): number {
  return (usualWindowMs + travelMs) / requestsPerMinute;
}

/**
 * When the next request may go out: the pause after a 429, the rate learned from 429s, a rate that was
 * given, and the spacing that `X-RateLimit-*` headers ask for. Knows no timer: the moments are given to it.
 *
 * Where processes share a pace, each learns its own share of the rate: a refusal of one is a refusal of all,
 * so each sees what it was let send between two of them, and together that is what the service took.
 */
export class RateLimiter {
  readonly #random: () => number;
  readonly #rate = new AdaptiveRate();
  readonly #intervalMs: number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  /** Asked for by headers, until the window they speak of is over. */
  #spacing: { readonly ms: number; readonly until: number } | undefined;
  /** Answers of 429 in a row. */
  #throttles = 0;
  #throttledAt = Number.NEGATIVE_INFINITY;

  /** @param requestsPerMinute sent at most. @default what the service takes */
  constructor(random: () => number, requestsPerMinute = Infinity) {
    this.#random = random;
    this.#intervalMs = intervalOf(requestsPerMinute);
  }

  /** Until when the service has asked for a pause; it may have passed. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** The earliest moment at which a request may start; it may have passed. */
  earliestStart(): number {
    const learned = this.#rate.next(this.#lastStart);
    // A window that ends frees what its spacing held back.
    const spaced = this.#spacing
      ? Math.min(this.#lastStart + this.#spacing.ms, this.#spacing.until)
      : learned;
    return Math.max(this.#pausedUntil, learned, spaced, this.#lastStart + this.#intervalMs);
  }

  /** @param slotAt the moment that the request was given by those that share its pace */
  started(now: number, slotAt = Number.NEGATIVE_INFINITY): void {
    const unaskedMs = now - Math.max(this.earliestStart(), this.#lastStart, slotAt);
    if (unaskedMs > idleMs) this.#rate.idled(unaskedMs);
    this.#lastStart = now;
  }

  /** A 429 came, for a request begun at `startedAt`. */
  throttled(now: number, startedAt: number, retryAfterMs: number | undefined): void {
    // Several requests of one burst are refused together: they are one reason to slow down.
    const isNew = startedAt > this.#throttledAt;
    if (isNew) {
      this.#throttles += 1;
      this.#throttledAt = now;
    }
    const askedMs = retryAfterMs ?? 0;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + this.#pauseMs(isNew, askedMs));
    if (isNew) this.#rate.refused(now, this.#pausedUntil, askedMs > 0);
    else this.#rate.refusedToo(this.#pausedUntil);
  }

  /** Another process that shares the rate was refused, and all pause for so long. */
  applyRemotePause(now: number, pausedMs: number): void {
    if (pausedMs === 0 || now + pausedMs <= this.#pausedUntil + newsMs) return;
    const isNew = now >= this.#pausedUntil;
    this.#pausedUntil = now + this.#pauseMs(isNew, pausedMs);
    if (!isNew) {
      this.#rate.refusedToo(this.#pausedUntil);
      return;
    }
    this.#throttles += 1;
    this.#throttledAt = now;
    this.#rate.refused(now, this.#pausedUntil, true);
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
  applyLimits(now: number, limits: RateLimit, running: number): void {
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

  #pauseMs(isNew: boolean, askedMs: number): number {
    if (askedMs > 0) {
      return askedMs + this.#random() * Math.min(mostJitterMs, askedMs * jitterShare);
    }
    return isNew ? backoffMs(this.#throttles, pauseBounds, this.#random) : 0;
  }
}
