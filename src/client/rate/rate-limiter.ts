import { AdaptiveRate } from './adaptive-rate.js';
import type { RateLimit } from './rate-headers.js';

/** Bounds of a wait that doubles with every failure. */
interface BackoffBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * The wait after the n-th failure in a row (counted from 1), in milliseconds: doubling, of which half is
 * random, so that many clients do not return at once.
 */
export function backoffMs(failures: number, bounds: BackoffBounds, random: () => number): number {
  const whole = Math.min(bounds.longestMs, bounds.firstMs * 2 ** Math.max(0, failures - 1));
  return whole / 2 + (whole / 2) * random();
}

/** Waits after answers of 429 that do not say how long. */
const pauseBounds = { firstMs: 1000, longestMs: 60_000 };

/** Clients given the same moment should not collide again: up to a tenth is added, at most this much. */
const jitterShare = 0.1;
const mostJitterMs = 500;

/** The window of `X-RateLimit-*` where none is given. */
const usualWindowMs = 60_000;

const longestSpacingMs = 60_000;

/** Without a limit beside it, fewer remaining requests than this are few. */
const fewRemaining = 30;

/** A given rate holds in every minute, although one request may travel this much longer than another. */
const travelMs = 1000;

/** A remote pause that is longer by this much is new. */
const newsMs = 500;

/** After a longer idle time a client has not tested what the service accepts. */
const idleMs = 1000;

export function intervalOf(requestsPerMinute: number): number {
  return (usualWindowMs + travelMs) / requestsPerMinute;
}

/**
 * Decides when the next request may start: the pause after a 429, the rate learned from 429s, the given rate,
 * and the spacing that `X-RateLimit-*` headers ask for. Has no timer: the caller passes the time.
 *
 * Processes that share a rate each learn their own share: a refusal of one is a refusal of all, so each sees
 * what it could send between two of them, and together that is what the service accepted.
 */
export class RateLimiter {
  readonly #random: () => number;
  readonly #rate = new AdaptiveRate();
  readonly #intervalMs: number;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #lastStart = Number.NEGATIVE_INFINITY;
  /** Asked for by headers, until the window they speak of is over. */
  #spacing: { readonly ms: number; readonly until: number } | undefined;
  /** The window that headers called used up. */
  #usedUp = { from: Infinity, until: 0 };
  /** Requests begun in such a window were answered, and it was still called used up: until a later one has some left. */
  #areHeadersWrong = false;
  #throttles = 0;
  #throttledAt = Number.NEGATIVE_INFINITY;

  /** @param requestsPerMinute the limit. @default what the service accepts */
  constructor(random: () => number, requestsPerMinute = Infinity) {
    this.#random = random;
    this.#intervalMs = intervalOf(requestsPerMinute);
  }

  /** The end of the pause that the service asked for; may be in the past. */
  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  earliestStart(): number {
    return Math.max(this.serviceStart(), this.#lastStart + this.#intervalMs);
  }

  /** The same as far as the service decides it, whatever the given rate is. */
  serviceStart(): number {
    const learned = this.#rate.next(this.#lastStart);
    // The end of a window lifts its spacing.
    const spaced = this.#spacing
      ? Math.min(this.#lastStart + this.#spacing.ms, this.#spacing.until)
      : learned;
    return Math.max(this.#pausedUntil, learned, spaced);
  }

  /** @param slotAt the slot that the request took from the shared rate */
  started(now: number, slotAt = Number.NEGATIVE_INFINITY): void {
    const unaskedMs = now - Math.max(this.earliestStart(), this.#lastStart, slotAt);
    if (unaskedMs > idleMs) this.#rate.idled(unaskedMs);
    this.#lastStart = now;
  }

  throttled(now: number, startedAt: number, retryAfterMs: number | undefined): void {
    // Requests of one burst are refused together: one reason to slow down.
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

  /** Another process that shares the rate was refused: all pause. */
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

  answered(startedAt: number): void {
    if (startedAt <= this.#throttledAt) {
      this.#rate.spared();
      return;
    }
    this.#rate.taken();
    this.#throttles = 0;
  }

  applyAnsweredLimits(now: number, startedAt: number, limits: RateLimit, running: number): void {
    const { from, until } = this.#usedUp;
    if (limits.remaining === 0) this.#areHeadersWrong ||= startedAt > from && startedAt < until;
    else if (now >= until) this.#areHeadersWrong = false;
    this.applyLimits(now, limits, running);
  }

  /** Headers gave the remaining requests; `running` ones may not be counted yet. */
  applyLimits(now: number, limits: RateLimit, running: number): void {
    const left = Math.max(0, limits.remaining - running);
    const few = limits.limit === undefined ? fewRemaining : limits.limit / 10;
    if (left > few || this.#areHeadersWrong) {
      this.#spacing = undefined;
      return;
    }
    const windowMs = limits.resetMs ?? usualWindowMs;
    if (limits.remaining === 0) this.#usedUp = { from: now, until: now + windowMs };
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
