/** A curve starts this far below the rate of its plateau. */
const curveCut = 0.15;

/** How fast a curve leaves its plateau: in the time of so many requests, not faster than in a second. */
const growRequests = 5;
const fastestGrowMs = 1000;

/**
 * A rate that comes back to what a service has borne, stays near it for a while and then grows faster and
 * faster: the cubic curve of TCP CUBIC and of AWS' SDKs. Both its sides are scaled to the rate, because
 * what is slow for fifty requests a second is too fast for one.
 */
export class RateCurve {
  /** Requests a millisecond, on the plateau. */
  readonly #rate: number;
  readonly #holdMs: number;
  readonly #growMs: number;
  readonly #from: number;

  /** @param holdMs from the curve's start to its plateau */
  constructor(rate: number, holdMs: number, from: number) {
    this.#rate = rate;
    this.#holdMs = Math.max(1, holdMs);
    this.#growMs = Math.min(this.#holdMs, Math.max(fastestGrowMs, growRequests / rate));
    this.#from = from;
  }

  /** How far the way to the plateau is done: 1 when it is reached. */
  progress(now: number): number {
    return Math.max(0, now - this.#from) / this.#holdMs;
  }

  /** Requests a millisecond before the plateau, or on it. */
  rateAt(now: number): number {
    return this.#rate * (1 - curveCut * Math.max(0, 1 - this.progress(now)) ** 3);
  }

  /** The earliest moment of a request after one that began at `lastStart`. */
  next(lastStart: number): number {
    if (lastStart < this.#from) return this.#from;
    const wanted = this.#requestsUntil(lastStart) + 1;
    let low = lastStart;
    let high = lastStart + 1 / (this.#rate * (1 - curveCut));
    while (high - low > 0.5) {
      const middle = (low + high) / 2;
      if (this.#requestsUntil(middle) < wanted) low = middle;
      else high = middle;
    }
    return high;
  }

  /** How many requests have room between the curve's start and a moment. */
  #requestsUntil(now: number): number {
    const ms = now - this.#from;
    const below = (1 - Math.min(1, ms / this.#holdMs)) ** 4 - 1;
    const above = (Math.max(0, ms - this.#holdMs) / this.#growMs) ** 4;
    const more = (curveCut / 4) * (this.#holdMs * below + this.#growMs * above);
    return this.#rate * (ms + more);
  }
}
