import type { VerificationType } from '../../contract/enums.js';
import { boundedWaitMs } from '../../platform/waiting/clock.js';

/**
 * First look at an unknown service: a constant, plus a share that grows with the root of the addresses. A
 * service that has just started is slowest with its first batches.
 */
const guessMs = 28;
const guessMsPerRoot: Readonly<Record<VerificationType, number>> = { email: 0.8, phone: 3 };
/** While nothing is known, batches look in turn: that much of the interval apart, or of the time so far. */
const apartOfInterval = 0.5;
const apart = 0.1;
/** A later look at a batch waits for the interval, or for this share of the time so far: waits grow. */
const laterShare = 0.25;
/** The latest batches tell how long others take: services become slower and faster. */
const remembered = 8;
/** A look waits for one more of the latest batches if it keeps the quicker ones for less of an interval, together. */
const mostInVain = 0.5;
/**
 * Batches vary: a look comes later than a time that was enough, by a share of the interval that a premature look
 * costs, and at most by half of that time.
 */
const slack = 0.03;
const mostSlack = 0.5;
/** An earlier look must be able to save this many intervals in all: it may cost one, and holds a place. */
const worthTrying = 1.5;
const triedShare = 0.25;
/** After this many batches a shorter wait is tried: the service may have become faster. */
const settledEnough = 40;
/** Longest time without a look, whatever is known from others, unless the interval is longer. */
const longestUnseenMs = 300_000;

export interface TimedBatch {
  readonly type: VerificationType;
  readonly addresses: number;
}

/**
 * Learns how long the service takes, so that the first look at a batch comes when those before were through.
 * A batch that takes longer is looked at again after growing waits.
 */
export class PollEstimator {
  readonly #paces = new Map<string, Map<number, SizePace>>();
  readonly #intervalMs: number;
  readonly #remaining: () => number;

  /** @param remaining how many more batches an earlier look may serve; bounded by the number so far */
  constructor(intervalMs: number, remaining: () => number = () => Infinity) {
    // Waits that grow from nothing never end.
    this.#intervalMs = Math.max(1, intervalMs);
    this.#remaining = remaining;
  }

  begin(stage: string, { type, addresses }: TimedBatch): StageTiming {
    const key = `${stage} ${type}`;
    let sizes = this.#paces.get(key);
    if (!sizes) this.#paces.set(key, (sizes = new Map<number, SizePace>()));
    // Batches of similar size take a similar time.
    const size = Math.floor(Math.log2(Math.max(1, addresses)));
    let pace = sizes.get(size);
    if (!pace) sizes.set(size, (pace = new SizePace(this.#intervalMs, nearestOf(sizes, size))));
    pace.begun += 1;
    const guess = Math.round(guessMs + guessMsPerRoot[type] * Math.sqrt(addresses));
    return new StageTiming(pace, Math.min(guess, this.#intervalMs), this.#remaining);
  }
}

/** What was seen of a batch: still in the stage at one time, and through at the other. */
interface Stay {
  readonly afterMs: number;
  readonly byMs: number;
}

class SizePace {
  readonly intervalMs: number;
  #stays: readonly Stay[] = [];
  /** When the latest looks that came too soon were. */
  #missesMs: readonly number[] = [];
  /** Batches in a row found through at their first look. */
  #settled = 0;
  /** Batches that entered the stage so far. */
  begun = 0;
  /** The longest time after which a batch was looked at. */
  lookedMs = 0;
  /** The time of the first look; `undefined` until a batch was seen to leave the stage. */
  firstMs: number | undefined;
  /** The batch that risks a premature look. */
  probing: StageTiming | undefined;
  readonly listeners = new Set<() => void>();
  /** The pace of another size, until this one is known. */
  readonly nearest: SizePace | undefined;

  constructor(intervalMs: number, nearest: SizePace | undefined) {
    this.intervalMs = intervalMs;
    this.nearest = nearest;
  }

  /** The latest known time before this one at which a batch was still in the stage. */
  missBefore(ms: number): number {
    return Math.max(0, ...this.#missesMs.filter((missMs) => missMs < ms));
  }

  look(ms: number): void {
    if (ms <= this.lookedMs) return;
    this.lookedMs = ms;
    if (this.firstMs === undefined) this.#notify();
  }

  miss(ms: number): void {
    this.#settled = 0;
    this.#missesMs = [...this.#missesMs, ms].slice(-remembered);
    this.#notify();
  }

  /** @param missedMs the look before it was found through; 0 if there was none */
  learn(missedMs: number, foundMs: number): void {
    const seen = { afterMs: Math.max(missedMs, this.missBefore(foundMs)), byMs: foundMs };
    // Batches are alike until they show otherwise: what was seen more closely of one holds for others, too.
    const stays = this.#stays.map((known) => (isWithin(seen, known) ? seen : known));
    stays.push(stays.findLast((known) => isWithin(known, seen)) ?? seen);
    this.#stays = stays.slice(-remembered);
    this.firstMs = firstLookMs(this.#stays, this.intervalMs);
    this.#settled = missedMs === 0 ? this.#settled + 1 : 0;
    if (this.#settled >= settledEnough) {
      this.#settled = 0;
      this.#missesMs = [this.missBefore(foundMs) / 2];
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
   * When to look next, in milliseconds after the batch entered the stage, as far as is known now; the interval
   * between two looks is the caller's.
   *
   * @param random a number from 0 to below 1, the same for each call within a wait
   */
  nextMs(random: number): number {
    const { firstMs, nearest, intervalMs } = this.#pace;
    const longest = this.#lookedMs + Math.max(longestUnseenMs, intervalMs);
    if (this.#lookedMs === 0) {
      const ms = firstMs === undefined ? nearest?.firstMs : this.#triedMs(firstMs);
      return Math.min(ms ?? this.#turnMs(), longest);
    }
    if (firstMs !== undefined && firstMs > this.#lookedMs) return Math.min(firstMs, longest);
    const grown = Math.max(intervalMs, laterShare * this.#lookedMs);
    const ms = this.#lookedMs + boundedWaitMs(grown, { intervalMs, random: () => random });
    return firstMs === undefined ? Math.max(ms, this.#turnMs()) : ms;
  }

  /** When a look shows something new, while nothing is known: the first batch looks, the others follow it. */
  #turnMs(): number {
    const { lookedMs, intervalMs } = this.#pace;
    if (lookedMs === 0) return this.#guessMs;
    const ms = lookedMs + Math.max(apartOfInterval * intervalMs, apart * lookedMs);
    // A batch does not wait longer for others: they may be stuck.
    return boundedWaitMs(ms, { intervalMs, random: () => 0 });
  }

  /** One batch at a time risks a premature look, where that may save more than the interval that it may cost. */
  #triedMs(firstMs: number): number {
    const { begun, probing, intervalMs } = this.#pace;
    const unknownMs = firstMs - this.#pace.missBefore(firstMs);
    const served = Math.min(begun, this.#remaining());
    const isWorth = served * unknownMs > worthTrying * intervalMs;
    if (!isWorth || (probing && probing !== this)) return firstMs;
    this.#pace.probing = this;
    return firstMs - triedShare * unknownMs;
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
    this.#pace.miss(this.#lookedMs);
  }

  /** The batch leaves the stage; its time counts where it was seen to make progress. */
  end(isFurther: boolean): void {
    this.#leave();
    if (isFurther && this.#lookedMs > 0) this.#pace.learn(this.#missedMs, this.#lookedMs);
  }

  #leave(): void {
    if (this.#pace.probing === this) this.#pace.probing = undefined;
  }
}

function nearestOf(sizes: ReadonlyMap<number, SizePace>, size: number): SizePace | undefined {
  const [first] = [...sizes].toSorted(([a], [b]) => Math.abs(a - size) - Math.abs(b - size));
  return first?.[1];
}

function isWithin(inner: Stay, outer: Stay): boolean {
  return outer.afterMs <= inner.afterMs && inner.byMs <= outer.byMs;
}

/** When batches like these are looked at first: a little after the slowest for which it pays to wait. */
function firstLookMs(stays: readonly Stay[], intervalMs: number): number {
  const [quickest = 0, ...slower] = stays.map(({ byMs }) => byMs).toSorted((a, b) => a - b);
  let ms = quickest;
  for (const [index, byMs] of slower.entries()) {
    if ((index + 1) * (byMs - ms) > mostInVain * intervalMs) break;
    ms = byMs;
  }
  return ms + Math.min(slack * intervalMs, mostSlack * ms);
}
