import { backoffMs } from './backoff.js';

/** Failures in a row, with no success between them, that are an outage. */
const outageFailures = 5;

const probeBounds = { firstMs: 2000, longestMs: 60_000 };

/**
 * Tells an outage from single failures. During one, a single request at a time tries whether the
 * service is back, at growing intervals, so that an outage costs fewer requests than service does.
 * Knows no timer: the moments are given to it.
 */
export class Circuit {
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
