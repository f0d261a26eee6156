/**
 * The plateau above the mean that the service took: a curve is below its plateau for a while, and one that
 * came back to the mean only would sink with every refusal.
 */
const plateau = 1.05;

/**
 * A limit refuses every request that is under way, not one among others: so many of them are its sign, and
 * a pause so long is that of its window. One that the service did not ask for was longer than it had to be.
 */
const burstOfLimit = 4;
const windowPauseMs = 20_000;
const ownPauseSureness = 0.5;

/** How long the first plateau is away, as shares of a short pause and of a long one. */
const shortShare = 0.007;
const longShare = 0.25;

/** The plateau is moved away until fewer than one request in so many is refused … */
const wantedPerRefusal = 120;
/** … but not further than the time of so many requests, or from one refusal to the next. */
const longestHoldRequests = 200;

/** A rate at which requests were refused is taken for a little less. */
const belowRefused = 0.93;

/** So many refusals at less than the learned rate, and the rate is not what they are about. */
const mostContradictions = 3;

/** What was taken between a pause and the refusal that ended it. */
interface Cycle {
  readonly taken: number;
  readonly busyMs: number;
  readonly refusedAt: number;
  /** The curve it was sent along. */
  readonly curve: RateCurve | undefined;
  readonly holdMs: number;
}

/**
 * How fast a service takes requests, learned from its refusals. Those that come one by one cost their
 * pauses and hardly more: the rate is that of what was sent between the pauses. A burst that is refused as
 * a whole, with a long pause, is a limit's: then the pause counts as time in which it was used up. Knows no
 * timer: the moments are given to it.
 */
export class AdaptiveRate {
  #curve: RateCurve | undefined;
  #holdMs = 0;
  #contradictions = 0;
  #taken = 0;
  #refused = 0;
  /** Of the requests that were under way when one was refused: those that were taken all the same. */
  #spared = 0;
  #busySince = 0;
  #cycle: Cycle | undefined;
  #isNamed = false;

  /** The earliest moment of a request after one that began at `lastStart`. */
  next(lastStart: number): number {
    return this.#curve?.next(lastStart) ?? Number.NEGATIVE_INFINITY;
  }

  /** Nothing was asked for a while, which says nothing of the service. */
  idled(ms: number): void {
    this.#busySince += ms;
  }

  taken(): void {
    this.#taken += 1;
  }

  /** A request that was under way when another was refused was taken. */
  spared(): void {
    this.#spared += 1;
    this.#plan();
  }

  /** One more of the burst was refused, which may make its pause longer. */
  refusedToo(pausedUntil: number): void {
    this.#refused += 1;
    this.#busySince = pausedUntil;
    this.#plan();
  }

  /** A request was refused, and none goes before a moment, which the service has named or not. */
  refused(now: number, pausedUntil: number, isNamed: boolean): void {
    // Pauses with nothing taken between them are one long pause: one window has refused them all.
    if (this.#taken > 0) this.#endCycle(now);
    this.#isNamed = isNamed;
    this.refusedToo(pausedUntil);
  }

  #endCycle(now: number): void {
    const progress = this.#curve?.progress(now) ?? 1;
    if (progress < 0.5) {
      this.#contradictions += 1;
      this.#holdMs /= 2;
    } else if (this.#taken < wantedPerRefusal * this.#refused) {
      this.#holdMs *= 2;
    }
    if (progress >= 1) this.#contradictions = 0;
    if (this.#contradictions === mostContradictions) {
      this.#holdMs = 0;
      this.#contradictions = 0;
    }
    const busyMs = Math.max(1, now - this.#busySince);
    const [taken, holdMs] = [this.#taken, this.#holdMs];
    this.#cycle = { taken, busyMs, refusedAt: now, curve: this.#curve, holdMs };
    this.#taken = 0;
    this.#refused = 0;
    this.#spared = 0;
  }

  #plan(): void {
    if (!this.#cycle) return;
    const { taken, busyMs, refusedAt, curve, holdMs } = this.#cycle;
    const pauseMs = this.#busySince - refusedAt;
    const wholeMs = busyMs + pauseMs;
    const sureness = this.#sureness(taken, pauseMs);
    const mean = taken / (busyMs ** ((1 - sureness) / 2) * wholeMs ** ((1 + sureness) / 2));
    // What came early on the curve is a small sample: the rate at which it was refused is news as well.
    const weight = Math.min(1, curve?.progress(refusedAt) ?? 1);
    const before = belowRefused * (curve?.rateAt(refusedAt) ?? 1);
    const rate = (mean * plateau) ** weight * before ** (1 - weight);
    const leastMs = Math.max(shortShare, longShare * sureness ** 2) * pauseMs;
    const mostMs = Math.max(wholeMs, longestHoldRequests / rate);
    this.#holdMs = Math.min(Math.max(holdMs, leastMs), mostMs);
    this.#curve = new RateCurve(rate, this.#holdMs, this.#busySince);
  }

  /** How sure it is that a limit is used up until the end of the pause. */
  #sureness(taken: number, pauseMs: number): number {
    const isBurst = this.#refused >= burstOfLimit && this.#spared < this.#refused / burstOfLimit;
    if (!isBurst || taken < this.#refused) return 0;
    return Math.min(1, pauseMs / windowPauseMs) * (this.#isNamed ? 1 : ownPauseSureness);
  }
}

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
class RateCurve {
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
