import type { VerificationType } from '../../contract/enums.js';

/**
 * First look at an unknown service: a constant, plus a share that grows with the root of the addresses. A
 * service that has just started is slowest with its first batches.
 */
const guessMs = 28;
const guessMsPerRoot: Readonly<Record<VerificationType, number>> = { email: 0.8, phone: 3 };
/** An earlier look must be able to save this many intervals in all: it may cost one, and holds a place. */
const worthTrying = 1.5;
/**
 * When a batch was not through at a time that was enough before, the next is looked at a little later; each
 * further miss doubles the delay, up to a share of that time.
 */
const slowerAtFirst = 0.03;
const slowerBy = 0.5;
/**
 * Batches vary: a look comes later than a time that was enough, by a share of the interval that a premature look
 * costs, and at most by `slowerBy` of that time.
 */
const slack = 0.03;
/** After this many batches a shorter wait is tried: the service may have become faster. */
const settledEnough = 40;
/** Distance of looks at an unknown service: a share of the interval, or of the time so far. */
const apartOfInterval = 0.5;
const apart = 0.1;
/** A batch does not wait longer for others: they may be stuck. */
const longestTurnMs = 30_000;

export interface TimedBatch {
  readonly type: VerificationType;
  readonly addresses: number;
}

/**
 * Learns how long the service takes, so that the first look at a batch comes when it is likely through: not
 * long after, and not too soon, which costs a poll and the wait after it.
 */
export class PollEstimator {
  readonly #paces = new Map<string, Map<number, SizePace>>();
  readonly #remaining: () => number;

  /** @param remaining how many more batches an earlier look may serve; bounded by the number so far */
  constructor(remaining: () => number = () => Infinity) {
    this.#remaining = remaining;
  }

  begin(stage: string, { type, addresses }: TimedBatch): StageTiming {
    const key = `${stage} ${type}`;
    let sizes = this.#paces.get(key);
    if (!sizes) this.#paces.set(key, (sizes = new Map<number, SizePace>()));
    // Batches of similar size take a similar time.
    const size = Math.floor(Math.log2(Math.max(1, addresses)));
    let pace = sizes.get(size);
    if (!pace) sizes.set(size, (pace = new SizePace(nearestOf(sizes, size))));
    pace.begun += 1;
    const guess = Math.round(guessMs + guessMsPerRoot[type] * Math.sqrt(addresses));
    return new StageTiming(pace, guess, this.#remaining);
  }
}

/** How long batches of one size stay in a stage: more than `lowerMs`; `upperMs` was enough, or is being tried. */
class SizePace {
  lowerMs = 0;
  /** `undefined` until a batch was seen to leave the stage. */
  upperMs: number | undefined;
  /** Batches in a row found through at `upperMs`. */
  settled = 0;
  /** Batches that entered the stage so far. */
  begun = 0;
  /** The longest time after which a batch was looked at. */
  lookedMs = 0;
  /** The batch that risks a premature look. */
  probing: StageTiming | undefined;
  readonly listeners = new Set<() => void>();
  /** The pace of another size, until this one is known. */
  readonly nearest: SizePace | undefined;

  constructor(nearest: SizePace | undefined) {
    this.nearest = nearest;
  }

  /** When the next poll shows something new, while nothing is known: the first batch looks, the others follow it. */
  nextMs(guessMs: number, intervalMs: number): number {
    const { lookedMs } = this;
    if (lookedMs === 0) return Math.min(guessMs, intervalMs);
    const next = lookedMs + Math.max(apartOfInterval * intervalMs, apart * lookedMs);
    return Math.min(next, Math.max(longestTurnMs, intervalMs));
  }

  look(ms: number): void {
    if (ms <= this.lookedMs) return;
    this.lookedMs = ms;
    if (this.upperMs === undefined) this.#notify();
  }

  /** A look came too soon: the next batch waits a little longer. */
  miss(ms: number): void {
    const { upperMs, lowerMs } = this;
    this.lowerMs = Math.max(lowerMs, ms);
    this.settled = 0;
    if (upperMs !== undefined && ms >= upperMs) {
      const later = Math.max(2 * (upperMs - lowerMs), ms * slowerAtFirst);
      this.upperMs = ms + Math.min(later, ms * slowerBy);
    }
    this.#notify();
  }

  learn(missedMs: number, foundMs: number, intervalMs: number): void {
    const { upperMs } = this;
    const enoughMs = foundMs + Math.min(slack * intervalMs, slowerBy * foundMs);
    if (upperMs === undefined || missedMs >= upperMs || foundMs <= this.lowerMs) {
      // Nothing was known, or the service has changed speed.
      this.lowerMs = foundMs <= this.lowerMs ? missedMs : Math.max(this.lowerMs, missedMs);
      this.upperMs = enoughMs;
      this.settled = 0;
    } else {
      this.lowerMs = Math.max(this.lowerMs, missedMs);
      this.settled = enoughMs < upperMs ? 0 : this.settled + 1;
      this.upperMs = Math.min(upperMs, enoughMs);
      if (this.settled >= settledEnough) {
        this.settled = 0;
        this.lowerMs /= 2;
      }
    }
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.listeners) listener();
  }
}

export class StageTiming {
  readonly #pace: SizePace;
  readonly #guessMs: number;
  readonly #remaining: () => number;
  #lookedMs = 0;
  #missedMs = 0;

  constructor(pace: SizePace, guess: number, remaining: () => number) {
    this.#pace = pace;
    this.#guessMs = guess;
    this.#remaining = remaining;
  }

  /**
   * The wait before the first look, in milliseconds. One batch at a time risks a premature look: earlier each
   * time it is found through, and not at all where that saves less than the interval that it may cost.
   */
  firstWaitMs(intervalMs: number): number {
    const { lowerMs, upperMs, nearest, begun, probing } = this.#pace;
    if (upperMs === undefined) return nearest?.upperMs ?? this.nextMs(intervalMs);
    const spanMs = upperMs - lowerMs;
    const served = Math.min(begun, this.#remaining());
    const worth = (served * spanMs) / (worthTrying * intervalMs);
    if (worth <= 1 || (probing && probing !== this)) return upperMs;
    this.#pace.probing = this;
    return lowerMs + (spanMs * (1 + 1 / worth)) / 2;
  }

  /** While nothing is known, when a poll shows something new. */
  nextMs(intervalMs: number): number {
    return this.#pace.nextMs(this.#guessMs, intervalMs);
  }

  /** The time after which batches like this one were through; `Infinity` while unknown. */
  get enoughMs(): number {
    return this.#pace.upperMs ?? Infinity;
  }

  /** Calls a listener whenever another batch shows something new. @returns stops it */
  onLearnt(listener: () => void): () => void {
    this.#pace.listeners.add(listener);
    return () => this.#pace.listeners.delete(listener);
  }

  /** Notes a look, this long after the batch entered the stage. */
  look(afterMs: number): void {
    this.#missedMs = this.#lookedMs;
    this.#lookedMs = afterMs;
    this.#pace.look(afterMs);
  }

  miss(): void {
    this.#leave();
    if (this.#missedMs === 0 || this.#pace.upperMs === undefined) {
      this.#pace.miss(this.#lookedMs);
    }
  }

  /** The batch leaves the stage; its time counts where it was seen to make progress. */
  end(isFurther: boolean, intervalMs: number): void {
    this.#leave();
    if (isFurther && this.#lookedMs > 0)
      this.#pace.learn(this.#missedMs, this.#lookedMs, intervalMs);
  }

  #leave(): void {
    if (this.#pace.probing === this) this.#pace.probing = undefined;
  }
}

function nearestOf(sizes: ReadonlyMap<number, SizePace>, size: number): SizePace | undefined {
  const [first] = [...sizes].toSorted(([a], [b]) => Math.abs(a - size) - Math.abs(b - size));
  return first?.[1];
}
