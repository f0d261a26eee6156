import { TransportError } from '../../platform/errors/service-errors.js';
import { systemErrorCode } from '../../platform/text/system-errors.js';
import { backoffMs } from './rate-limiter.js';

/** This many failures in a row are an outage. */
const outageFailures = 5;

const probeBounds = { firstMs: 2000, longestMs: 60_000 };

/**
 * Distinguishes an outage from single failures. During one, a single request at a time tries whether the
 * service is back, at growing intervals, so that an outage costs fewer requests than service does. Has no
 * timer: the caller passes the time.
 */
export class CircuitBreaker {
  readonly #random: () => number;
  #failures = 0;
  #probes = 0;
  #probeAt: number | undefined;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The earliest moment of the next probe; `undefined` while there is no outage. */
  get probeAt(): number | undefined {
    return this.#probeAt;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#probes = 0;
    this.#probeAt = undefined;
  }

  failed(now: number, wasProbe: boolean, retryAfterMs = 0): void {
    this.#failures += 1;
    const isOpening = this.#probeAt === undefined && this.#failures >= outageFailures;
    if (isOpening || wasProbe) {
      this.#probes += 1;
      this.#probeAt = now + backoffMs(this.#probes, probeBounds, this.#random);
    }
    if (this.#probeAt !== undefined) this.#probeAt = Math.max(this.#probeAt, now + retryAfterMs);
  }
}

/** The failures since the latest success. */
interface Failing {
  readonly since: number;
  readonly at: number;
  readonly error: Error;
  /** When waiting requests are given up. */
  readonly giveUpAt: number;
}

/** A host that was never found since the first request will hardly be found later. */
const unknownHostMs = 8000;
const leastTryingMs = 1000;
const unknownHostCodes: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME']);

/** Older failures, with no request since, say nothing about now. */
const longestStaleMs = 2 * 60_000;

/** How long a service may fail. Has no timer: the caller passes the time. */
export class GiveUpPolicy {
  readonly #giveUpAfterMs: number;
  #failing: Failing | undefined;
  /** When the first request asked for its turn; `undefined` after the first answer. */
  #unansweredSince: number | undefined = Number.POSITIVE_INFINITY;

  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = giveUpAfterMs;
  }

  get failing(): Failing | undefined {
    return this.#failing;
  }

  asked(now: number): void {
    if (this.#unansweredSince !== undefined) {
      this.#unansweredSince = Math.min(this.#unansweredSince, now);
    }
  }

  answered(): void {
    this.#unansweredSince = undefined;
    this.forget();
  }

  failed(now: number, error: Error): void {
    if (!(error instanceof TransportError)) this.#unansweredSince = undefined;
    const since = this.#hasRested(now) ? now : (this.#failing?.since ?? now);
    this.#failing = { since, at: now, error, giveUpAt: this.#giveUpAt(since, error) };
  }

  /** The failing state, once it has lasted too long. */
  overdue(now: number): Failing | undefined {
    if (this.#hasRested(now)) this.forget();
    return this.#failing && now >= this.#failing.giveUpAt ? this.#failing : undefined;
  }

  forget(): void {
    this.#failing = undefined;
  }

  isStale(now: number): boolean {
    return this.#failing !== undefined && this.staleAfterMs(now) <= 0;
  }

  /** How long the failures still matter, in whole milliseconds. */
  staleAfterMs(now: number): number {
    const staleMs = Math.min(longestStaleMs, this.#giveUpAfterMs);
    return Math.max(0, Math.floor((this.#failing?.at ?? now) + staleMs - now) + 1);
  }

  /** A machine that slept has not seen whether the service was there: nothing else waits so long between two requests. */
  #hasRested(now: number): boolean {
    const failedAt = this.#failing?.at ?? now;
    return now - failedAt > this.#giveUpAfterMs + longestStaleMs;
  }

  #giveUpAt(since: number, error: Error): number {
    const giveUpAt = since + this.#giveUpAfterMs;
    if (
      this.#unansweredSince === undefined ||
      !unknownHostCodes.has(systemErrorCode(error.cause) ?? '')
    ) {
      return giveUpAt;
    }
    return Math.min(
      giveUpAt,
      Math.max(this.#unansweredSince + unknownHostMs, since + leastTryingMs),
    );
  }
}
