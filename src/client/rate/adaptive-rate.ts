/**
 * How far the plateau is above the mean accepted rate: a curve is below its plateau for a while, and one that
 * only returned to the mean would sink with every refusal.
 */
const plateau = 1.05;

/**
 * A limit refuses every request under way, not single ones: that many refusals identify it, and a long pause
 * is its window. A pause that the service did not ask for was longer than necessary.
 */
const burstOfLimit = 4;
const windowPauseMs = 20_000;
const guessedPauseSureness = 0.5;

/** Time to the first plateau, as shares of a short pause and of a long one. */
const shortShare = 0.007;
const longShare = 0.25;

/** The plateau is moved away until fewer than one in this many requests is refused … */
const wantedPerRefusal = 120;
/** … but not further than the time of so many requests, or from one refusal to the next. */
const longestHoldRequests = 200;

/** A refused rate counts as slightly less. */
const belowRefused = 0.93;

/** After this many refusals below the learned rate, the refusals are about something else. */
const mostContradictions = 3;

/** What was accepted between a pause and the refusal that ended it. */
interface Cycle {
  readonly taken: number;
  readonly busyMs: number;
  readonly refusedAt: number;
  /** The curve that it followed. */
  readonly curve: RateCurve | undefined;
  readonly holdMs: number;
}

/**
 * Learns how fast a service takes requests from its refusals. Single refusals cost little more than their
 * pauses: the rate is that of the requests between them. A burst refused as a whole, with a long pause, shows
 * a limit: then the pause counts as time in which it was used up. Has no timer: the caller passes the time.
 */
export class AdaptiveRate {
  #curve: RateCurve | undefined;
  #holdMs = 0;
  #contradictions = 0;
  #taken = 0;
  #refused = 0;
  /** Requests under way at a refusal that were accepted all the same. */
  #spared = 0;
  #busySince = 0;
  #cycle: Cycle | undefined;
  #isNamed = false;

  /** The earliest start of the next request after one that began at `lastStart`. */
  next(lastStart: number): number {
    return this.#curve?.next(lastStart) ?? Number.NEGATIVE_INFINITY;
  }

  /** Nothing was asked for a while, which says nothing about the service. */
  idled(ms: number): void {
    this.#busySince += ms;
  }

  taken(): void {
    this.#taken += 1;
  }

  spared(): void {
    this.#spared += 1;
    this.#plan();
  }

  /** Another of the burst was refused, which may extend its pause. */
  refusedToo(pausedUntil: number): void {
    this.#refused += 1;
    this.#busySince = pausedUntil;
    this.#plan();
  }

  /** A request was refused; none starts before `pausedUntil`, which the service has named or not. */
  refused(now: number, pausedUntil: number, isNamed: boolean): void {
    // Pauses with nothing accepted between them are one: one window has refused them all.
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
    // A refusal early on the curve is a small sample: its rate counts in proportion.
    const weight = Math.min(1, curve?.progress(refusedAt) ?? 1);
    const before = belowRefused * (curve?.rateAt(refusedAt) ?? 1);
    const rate = (mean * plateau) ** weight * before ** (1 - weight);
    const leastMs = Math.max(shortShare, longShare * sureness ** 2) * pauseMs;
    const mostMs = Math.max(wholeMs, longestHoldRequests / rate);
    this.#holdMs = Math.min(Math.max(holdMs, leastMs), mostMs);
    this.#curve = new RateCurve(rate, this.#holdMs, this.#busySince);
  }

  /** How certain it is that a limit is used up until the end of the pause. */
  #sureness(taken: number, pauseMs: number): number {
    const isBurst = this.#refused >= burstOfLimit && this.#spared < this.#refused / burstOfLimit;
    if (!isBurst || taken < this.#refused) return 0;
    return Math.min(1, pauseMs / windowPauseMs) * (this.#isNamed ? 1 : guessedPauseSureness);
  }
}

/** How far below its plateau a curve starts. */
const curveCut = 0.15;

/** A curve leaves its plateau within the time of this many requests, but not within less than a second. */
const growRequests = 5;
const fastestGrowMs = 1000;

/**
 * A rate that returns to what a service has accepted, stays near it for a while and then grows ever faster:
 * the cubic curve of TCP CUBIC and of AWS' SDKs. Both sides are scaled to the rate, as what is slow for fifty
 * requests a second is too fast for one.
 */
class RateCurve {
  /** Requests a millisecond, on the plateau. */
  readonly #rate: number;
  readonly #holdMs: number;
  readonly #growMs: number;
  readonly #from: number;

  /** @param holdMs time from the curve's start to its plateau */
  constructor(rate: number, holdMs: number, from: number) {
    this.#rate = rate;
    this.#holdMs = Math.max(1, holdMs);
    this.#growMs = Math.min(this.#holdMs, Math.max(fastestGrowMs, growRequests / rate));
    this.#from = from;
  }

  /** The share of the way to the plateau that is done; 1 once it is reached. */
  progress(now: number): number {
    return Math.max(0, now - this.#from) / this.#holdMs;
  }

  rateAt(now: number): number {
    return this.#rate * (1 - curveCut * Math.max(0, 1 - this.progress(now)) ** 3);
  }

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

  /** How many requests fit between the curve's start and a moment. */
  #requestsUntil(now: number): number {
    const ms = now - this.#from;
    const below = (1 - Math.min(1, ms / this.#holdMs)) ** 4 - 1;
    const above = (Math.max(0, ms - this.#holdMs) / this.#growMs) ** 4;
    const more = (curveCut / 4) * (this.#holdMs * below + this.#growMs * above);
    return this.#rate * (ms + more);
  }
}
