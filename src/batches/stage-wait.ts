import type { Clock } from '../client/clock.js';
import type { KnownBatch, Stage } from './known-batch.js';
import { pollWaitMs } from './poll-wait.js';

export interface StageWaitOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly pollIntervalMs: number;
  /** Longest time without getting further, in milliseconds. */
  readonly stageDeadlineMs: number;
}

/** Stages between which a batch may go to and fro without getting further have the same number. */
const progress: Readonly<Record<Stage, number>> = {
  planned: 0,
  uploading: 0,
  uploaded: 1,
  parsing: 1,
  ready: 2,
  launching: 2,
  verifying: 3,
  done: 4,
  exported: 5,
  failed: 5,
};

/**
 * The waits of one batch: they grow, and its deadline comes nearer, for as long as it gets no further.
 * Stepping back to a stage it had left does neither begin anew, or to and fro would never end.
 */
export class StageWait {
  readonly #options: StageWaitOptions;
  #furthest: number;
  #fresh: number;
  #since: number;
  #polls = 0;

  constructor(known: KnownBatch, options: StageWaitOptions) {
    this.#options = options;
    this.#furthest = progress[known.stage];
    this.#fresh = known.fresh;
    this.#since = options.clock.now();
  }

  note(known: KnownBatch): void {
    const isFurther = progress[known.stage] > this.#furthest;
    if (!isFurther && known.fresh === this.#fresh) return;
    this.#furthest = progress[known.stage];
    this.#fresh = known.fresh;
    this.#since = this.#options.clock.now();
    this.#polls = 0;
  }

  /**
   * Waits for the next poll, the last one at the deadline.
   *
   * @returns `false`, at once, when the deadline has passed
   * @throws the signal's reason
   */
  async next(signal: AbortSignal): Promise<boolean> {
    const { clock, random, pollIntervalMs, stageDeadlineMs } = this.#options;
    const leftMs = this.#since + stageDeadlineMs - clock.now();
    if (leftMs <= 0) return false;
    const waitMs = pollWaitMs(this.#polls, { intervalMs: pollIntervalMs, random });
    this.#polls += 1;
    await clock.sleep(Math.min(waitMs, leftMs), signal);
    return true;
  }
}
