import type { VerificationType } from '../../contract/enums.js';
import { pollWaitMs } from '../../platform/waiting/clock.js';

/**
 * First look at an unknown service: a constant, plus a share that grows with the root of the addresses. A
 * service that has just started is slowest with its first batches.
 */
const guessMs = 28;
const guessMsPerRoot: Readonly<Record<VerificationType, number>> = { email: 0.8, phone: 3 };
/** An earlier look must be able to save this many intervals in all: it may cost one, and holds a place. */
const worthTrying = 1.5;
/** The latest batches tell how long others take: services become slower and faster. */
const remembered = 8;
/** What a poll too soon costs beside the wait after it, as a share of the batch's time: it is a request. */
const pollCost = 0.01;
/**
 * Batches vary: a look comes later than a time that was enough, by a share of the interval that a premature look
 * costs, and at most by half of that time.
 */
const slack = 0.03;
const mostSlack = 0.5;
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
    return new StageTiming(pace, guess, this.#remaining);
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
  /** The first look that costs least; `undefined` until a batch was seen to leave the stage. */
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

  /** When the next poll shows something new, while nothing is known: the first batch looks, the others follow it. */
  nextMs(guessMs: number): number {
    const { lookedMs, intervalMs } = this;
    if (lookedMs === 0) return Math.min(guessMs, intervalMs);
    const next = lookedMs + Math.max(apartOfInterval * intervalMs, apart * lookedMs);
    return Math.min(next, Math.max(longestTurnMs, intervalMs));
  }

  /**
   * The look that costs least for a batch like the latest: what it waits in vain, and the polls before.
   *
   * @param lookedMs it is still in the stage then
   * @returns `undefined` where none stayed longer
   */
  bestMs(lookedMs: number): number | undefined {
    const { intervalMs } = this;
    const stays = this.#stays.filter(({ byMs }) => byMs > lookedMs);
    // Each may have been through in the middle of what was seen of it, or at its end.
    const throughMs = stays.flatMap(({ afterMs, byMs }) => [
      (Math.max(afterMs, lookedMs) + byMs) / 2,
      byMs,
    ]);
    const earliestMs = lookedMs === 0 ? 0 : lookedMs + intervalMs;
    let bestMs: number | undefined;
    let least = Infinity;
    for (const ms of throughMs) {
      const atMs = Math.max(withSlack(ms, intervalMs), earliestMs);
      const cost = costOf(atMs, throughMs, intervalMs, least);
      if (cost < least) [bestMs, least] = [atMs, cost];
    }
    return bestMs;
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
    this.firstMs = this.bestMs(0);
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
   * The wait before the first look, in milliseconds. One batch at a time risks a premature look: earlier each
   * time it is found through, and not at all where that saves less than the interval that it may cost.
   */
  firstWaitMs(): number {
    const { firstMs, nearest, begun, probing, intervalMs } = this.#pace;
    if (firstMs === undefined) return nearest?.firstMs ?? this.nextMs();
    const tooSoonMs = this.#pace.missBefore(firstMs);
    const spanMs = firstMs - tooSoonMs;
    const served = Math.min(begun, this.#remaining());
    const worth = (served * spanMs) / (worthTrying * intervalMs);
    if (worth <= 1 || (probing && probing !== this)) return firstMs;
    this.#pace.probing = this;
    return tooSoonMs + (spanMs * (1 + 1 / worth)) / 2;
  }

  /** While nothing is known, when a poll shows something new. */
  nextMs(): number {
    return this.#pace.nextMs(this.#guessMs);
  }

  get isKnown(): boolean {
    return this.#pace.firstMs !== undefined;
  }

  /** The next look at a batch that was still in the stage then; `undefined` where none stayed longer. */
  laterMs(lookedMs: number): number | undefined {
    return this.#pace.bestMs(lookedMs);
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

function withSlack(ms: number, intervalMs: number): number {
  return ms + Math.min(slack * intervalMs, mostSlack * ms);
}

/**
 * What a first look costs batches that are through at these times, all together, in milliseconds. Polls that
 * cost as much as another look in all are not counted further: they may be thousands.
 */
function costOf(
  firstMs: number,
  throughMs: readonly number[],
  intervalMs: number,
  least: number,
): number {
  let cost = 0;
  for (const ms of throughMs) {
    let atMs = firstMs;
    for (let poll = 0; atMs < withSlack(ms, intervalMs); poll += 1) {
      atMs += pollWaitMs(poll, { intervalMs, random: () => 0 });
      cost += pollCost * ms;
      if (cost >= least) return cost;
    }
    cost += atMs - ms;
  }
  return cost;
}
