import type { VerificationType } from '../contract/enums.js';

/**
 * A first look at a service that nothing is known of: some time for the batch, and more with the root of
 * its addresses. A service that has just started is slowest with the first of them.
 */
const guessMs = 28;
const guessMsPerRoot: Readonly<Record<VerificationType, number>> = { email: 0.8, phone: 3 };
/** What is known as exactly as this is not worth a look that may come too soon. */
const tolerance = 0.04;
const toleranceOfInterval = 0.3;
/** So many intervals in all have to be won by an earlier look, which may cost one. */
const worthWaiting = 6;
/**
 * Where a batch was not through at a time that was enough before, the next is looked at so much later: a
 * part of that time, and of the interval at most.
 */
const slowerBy = 0.5;
const slowerByOfInterval = 0.25;
/** After so many batches a shorter wait is tried: the service may have become faster. */
const settledEnough = 16;
/** First looks at a service of unknown pace lie so far apart, in intervals: one of their second looks is early. */
const apart = 3 / 8;
const mostApart = 4;

/** What the time of a batch depends on. */
export interface TimedBatch {
  readonly type: VerificationType;
  readonly addresses: number;
}

/**
 * What a run learns of how long the service takes, so that the first look at a batch comes when it is
 * likely to be through: not long after, and not too soon, which costs a poll and the wait behind it.
 */
export class StagePace {
  readonly #paces = new Map<string, Map<number, SizePace>>();

  /** A batch enters a stage. */
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
    return new StageTiming(pace, guess);
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
  /** Looks under way that may come too soon. */
  probing = 0;
  /** The batch whose first look is under way. */
  looking: StageTiming | undefined;
  readonly listeners = new Set<() => void>();
  /** The pace of another size, until this one is known. */
  readonly nearest: SizePace | undefined;

  constructor(nearest: SizePace | undefined) {
    this.nearest = nearest;
  }

  /** A first look came too soon: whoever looks next waits a little longer. */
  miss(ms: number, intervalMs: number): void {
    if (this.upperMs !== undefined) {
      this.lowerMs = Math.max(this.lowerMs, ms);
      this.settled = 0;
      if (ms >= this.upperMs) {
        this.upperMs = ms + Math.min(ms * slowerBy, intervalMs * slowerByOfInterval);
      }
    }
    this.#tell();
  }

  learn(missedMs: number, foundMs: number): void {
    const { upperMs } = this;
    if (upperMs === undefined || missedMs >= upperMs || foundMs <= this.lowerMs) {
      // Nothing was known, or the service has become slower or faster.
      this.lowerMs = missedMs;
      this.upperMs = foundMs;
      this.settled = 0;
    } else {
      this.lowerMs = Math.max(this.lowerMs, missedMs);
      this.settled = foundMs < upperMs ? 0 : this.settled + 1;
      this.upperMs = Math.min(upperMs, foundMs);
      if (this.settled >= settledEnough) {
        this.settled = 0;
        this.lowerMs /= 2;
      }
    }
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.listeners) listener();
  }
}

/** The time of one batch in one stage. */
export class StageTiming {
  readonly #pace: SizePace;
  readonly #guessMs: number;
  /** Its place among those that look early at the same time, from 1. */
  #order = 0;
  #lookedMs = 0;
  #missedMs = 0;

  constructor(pace: SizePace, guess: number) {
    this.#pace = pace;
    this.#guessMs = guess;
  }

  /**
   * How long to wait for the first look, in milliseconds. Each batch halves the span between too soon
   * and long enough; of several under way at once the later ones look later, so that not all of them
   * look too soon.
   */
  firstWaitMs(intervalMs: number): number {
    const { lowerMs, upperMs, nearest, begun } = this.#pace;
    if (upperMs === undefined) {
      if (nearest?.upperMs !== undefined) return nearest.upperMs;
      const first = Math.min(intervalMs, this.#guessMs);
      return first + ((this.#probe() - 1) % mostApart) * apart * intervalMs;
    }
    const spanMs = upperMs - lowerMs;
    // As many batches may come as have come: the more they are, the less each has to win by it.
    const worthMs = Math.min(toleranceOfInterval, worthWaiting / begun) * intervalMs;
    const isKnown = spanMs <= Math.max(worthMs, tolerance * upperMs);
    return isKnown ? upperMs : upperMs - spanMs / 2 ** this.#probe();
  }

  /** After what time batches like this one have been through; `Infinity` when that is not known. */
  get enoughMs(): number {
    return this.#pace.upperMs ?? Infinity;
  }

  /**
   * Has a listener called whenever another batch has told something new.
   *
   * @returns what ends it
   */
  onLearnt(listener: () => void): () => void {
    this.#pace.listeners.add(listener);
    return () => this.#pace.listeners.delete(listener);
  }

  /** Whether another batch is being looked at for the first time: what it shows is worth waiting for. */
  get isOthersTurn(): boolean {
    const { looking } = this.#pace;
    return looking !== undefined && looking !== this;
  }

  /** The batch is looked at, so long after it entered the stage. */
  look(afterMs: number): void {
    if (this.#lookedMs === 0) this.#pace.looking ??= this;
    this.#missedMs = this.#lookedMs;
    this.#lookedMs = afterMs;
  }

  /** The batch was looked at, and is still in the stage. */
  miss(intervalMs: number): void {
    if (this.#pace.looking === this) this.#pace.looking = undefined;
    if (this.#missedMs === 0) this.#pace.miss(this.#lookedMs, intervalMs);
  }

  /** The batch leaves the stage; it tells something when it got further and was seen to. */
  end(isFurther: boolean): void {
    if (this.#order > 0) this.#pace.probing -= 1;
    this.#order = 0;
    if (this.#pace.looking === this) this.#pace.looking = undefined;
    if (isFurther && this.#lookedMs > 0) this.#pace.learn(this.#missedMs, this.#lookedMs);
  }

  /** @returns how many batches probed when this one began to, itself among them */
  #probe(): number {
    if (this.#order === 0) {
      this.#pace.probing += 1;
      this.#order = this.#pace.probing;
    }
    return this.#order;
  }
}

function nearestOf(sizes: ReadonlyMap<number, SizePace>, size: number): SizePace | undefined {
  const [first] = [...sizes].toSorted(([a], [b]) => Math.abs(a - size) - Math.abs(b - size));
  return first?.[1];
}
