import type { VerificationType } from '../../contract/enums.js';

/**
 * A first look at a service that nothing is known of: some time for the batch, and more with the root of
 * its addresses. A service that has just started is slowest with the first of them.
 */
const guessMs = 28;
const guessMsPerRoot: Readonly<Record<VerificationType, number>> = { email: 0.8, phone: 3 };
/** So many intervals in all have to be won by an earlier look, which may cost one and holds up its place. */
const worthTrying = 1.5;
/**
 * Where a batch was not through at a time that was enough before, the next is looked at a little later,
 * and each that was not through either puts the next off twice as long: up to a part of that time.
 */
const slowerAtFirst = 0.03;
const slowerBy = 0.5;
/**
 * No batch takes just as long as another: a look is put off for so long beyond a time that was enough, a part of
 * it and of the interval that a look too soon costs.
 */
const slack = 0.03;
/** After so many batches a shorter wait is tried: the service may have become faster. */
const settledEnough = 40;
/** Looks at a service of unknown pace lie so far apart: a part of the interval, or of the time so far. */
const apartOfInterval = 0.5;
const apart = 0.1;
/** A batch does not wait for others longer: they may be stuck. */
const longestTurnMs = 30_000;

/** What the time of a batch depends on. */
export interface TimedBatch {
  readonly type: VerificationType;
  readonly addresses: number;
}

/**
 * What a run learns of how long the service takes, so that the first look at a batch comes when it is
 * likely to be through: not long after, and not too soon, which costs a poll and the wait after it.
 */
export class PollEstimator {
  readonly #paces = new Map<string, Map<number, SizePace>>();
  readonly #toCome: () => number;

  /** @param toCome most batches that an earlier look may still serve; as many as have come, if that is less */
  constructor(toCome: () => number = () => Infinity) {
    this.#toCome = toCome;
  }

  begin(stage: string, { type, addresses }: TimedBatch): StageTiming {
    const key = `${stage} ${type}`;
    let sizes = this.#paces.get(key);
    if (!sizes) this.#paces.set(key, (sizes = new Map<number, SizePace>()));
    // Batches of about one size take about as long.
    const size = Math.floor(Math.log2(Math.max(1, addresses)));
    let pace = sizes.get(size);
    if (!pace) sizes.set(size, (pace = new SizePace(nearestOf(sizes, size))));
    pace.begun += 1;
    const guess = Math.round(guessMs + guessMsPerRoot[type] * Math.sqrt(addresses));
    return new StageTiming(pace, guess, this.#toCome);
  }
}

/** How long batches of one size stay in one stage: more than `lowerMs`; `upperMs` was enough, or is tried. */
class SizePace {
  lowerMs = 0;
  /** `undefined` until a batch was seen to leave the stage. */
  upperMs: number | undefined;
  /** Batches in a row that were found through at `upperMs`. */
  settled = 0;
  /** Batches that entered the stage so far. */
  begun = 0;
  /** The longest after which a batch was looked at. */
  lookedMs = 0;
  /** The batch that looks where it may be too soon. */
  probing: StageTiming | undefined;
  readonly listeners = new Set<() => void>();
  /** The pace of another size, until this one is known. */
  readonly nearest: SizePace | undefined;

  constructor(nearest: SizePace | undefined) {
    this.nearest = nearest;
  }

  /**
   * While nothing is known: when a poll shows more than the latest did. The batch that gets there first looks,
   * and soon one is found through, with which the others are.
   */
  nextMs(guessMs: number, intervalMs: number): number {
    const { lookedMs } = this;
    if (lookedMs === 0) return Math.min(guessMs, intervalMs);
    const next = lookedMs + Math.max(apartOfInterval * intervalMs, apart * lookedMs);
    return Math.min(next, Math.max(longestTurnMs, intervalMs));
  }

  /** A batch is looked at, so long after it entered the stage. */
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
    const enoughMs = foundMs + slack * Math.min(foundMs, intervalMs);
    if (upperMs === undefined || missedMs >= upperMs || foundMs <= this.lowerMs) {
      // Nothing was known, or the service has become slower or faster.
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
  readonly #toCome: () => number;
  #lookedMs = 0;
  #missedMs = 0;

  constructor(pace: SizePace, guess: number, toCome: () => number) {
    this.#pace = pace;
    this.#guessMs = guess;
    this.#toCome = toCome;
  }

  /**
   * How long to wait for the first look, in milliseconds. One batch at a time looks where it may be too
   * soon: the more often it is found through there, the earlier, and not at all where that wins less than
   * the interval that it may cost.
   */
  firstWaitMs(intervalMs: number): number {
    const { lowerMs, upperMs, nearest, begun, probing } = this.#pace;
    if (upperMs === undefined) return nearest?.upperMs ?? this.nextMs(intervalMs);
    const spanMs = upperMs - lowerMs;
    const served = Math.min(begun, this.#toCome());
    const worth = (served * spanMs) / (worthTrying * intervalMs);
    if (worth <= 1 || (probing && probing !== this)) return upperMs;
    this.#pace.probing = this;
    return lowerMs + (spanMs * (1 + 1 / worth)) / 2;
  }

  /** While nothing is known, when a poll shows something new. */
  nextMs(intervalMs: number): number {
    return this.#pace.nextMs(this.#guessMs, intervalMs);
  }

  /** After what time batches like this one have been through; `Infinity` when that is not known. */
  get enoughMs(): number {
    return this.#pace.upperMs ?? Infinity;
  }

  /**
   * Has a listener called whenever something new is learned from another batch.
   *
   * @returns what ends it
   */
  onLearnt(listener: () => void): () => void {
    this.#pace.listeners.add(listener);
    return () => this.#pace.listeners.delete(listener);
  }

  /** The batch is looked at, so long after it entered the stage. */
  look(afterMs: number): void {
    this.#missedMs = this.#lookedMs;
    this.#lookedMs = afterMs;
    this.#pace.look(afterMs);
  }

  /** The batch was looked at, and is still in the stage. */
  miss(): void {
    this.#leave();
    if (this.#missedMs === 0 || this.#pace.upperMs === undefined) {
      this.#pace.miss(this.#lookedMs);
    }
  }

  /** The batch leaves the stage; its time counts when it got further and was seen to. */
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
