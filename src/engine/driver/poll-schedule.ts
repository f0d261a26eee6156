import { type Clock, notAwaited, pollWaitMs } from '../../platform/waiting/clock.js';
import type { BatchState, Stage } from '../batches/batch-state.js';
import type { PollEstimator, StageTiming, TimedBatch } from './poll-learning.js';

interface PollScheduleOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly pollIntervalMs: number;
  readonly batchDeadlineMs: number;
  /** Learns from the run's batches. @default none: the first look waits like any other */
  readonly pace?: PollEstimator;
}

/** Stages between which a batch may alternate without progress have the same number. */
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
  split: 5,
  failed: 5,
};

/**
 * The waits of one batch: they grow, and its deadline approaches, while it makes no progress. Returning to an
 * earlier stage restarts neither, or alternating would never end.
 */
export class PollSchedule {
  readonly #options: PollScheduleOptions;
  readonly #batch: TimedBatch;
  #stage: Stage;
  #furthest: number;
  #fresh: number;
  #since: number;
  #polls = 0;
  /** Timing of a stage that the service works in, once this process has seen the batch enter it. */
  #timing: StageTiming | undefined;
  #enteredAt = 0;
  #lookedAt = -Infinity;

  constructor(state: BatchState, batch: TimedBatch, options: PollScheduleOptions) {
    this.#options = options;
    this.#batch = batch;
    this.#stage = state.stage;
    this.#furthest = progress[state.stage];
    this.#fresh = state.fresh;
    this.#since = options.clock.now();
  }

  note(state: BatchState): void {
    const isFurther = progress[state.stage] > this.#furthest;
    if (isFurther || state.fresh !== this.#fresh) {
      this.#furthest = progress[state.stage];
      this.#fresh = state.fresh;
      this.#since = this.#options.clock.now();
      this.#polls = 0;
    }
    if (state.stage === this.#stage) return;
    this.#stage = state.stage;
    this.#time(state.stage, isFurther && state.stage !== 'failed');
  }

  get #deadlineAt(): number {
    return this.#since + this.#options.batchDeadlineMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#deadlineAt - this.#options.clock.now());
  }

  /** Waits for the next poll, the last one at the deadline. @returns `false`, at once, when the deadline has passed */
  async next(signal: AbortSignal): Promise<boolean> {
    if (this.leftMs === 0) return false;
    if (this.#polls > 0) this.#timing?.miss();
    const dueAt = await this.#sleep(signal);
    this.#polls += 1;
    this.#lookedAt = this.#options.clock.now();
    // Counted from when it was due: a busy process says nothing about the service.
    this.#timing?.look(dueAt - this.#enteredAt);
    return true;
  }

  /** Sleeps until the next look, or the deadline. Other batches may move it. @returns when it was due */
  async #sleep(signal: AbortSignal): Promise<number> {
    const { clock, random, pollIntervalMs: intervalMs } = this.#options;
    const timing = this.#timing;
    const chance = random();
    const waitMs = pollWaitMs(this.#polls, { intervalMs, random: () => chance });
    const grownAt = clock.now() + waitMs;
    for (;;) {
      const knownAt = timing ? this.#enteredAt + timing.nextMs(chance) : grownAt;
      const at = Math.min(Math.max(knownAt, this.#lookedAt + intervalMs), this.#deadlineAt);
      const dueAt = Math.max(at, clock.now());
      if (await this.#sleepOrLearn(dueAt, signal)) return dueAt;
    }
  }

  /** @returns whether the time is reached; another batch may have shown something before */
  async #sleepOrLearn(until: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const learnt = new AbortController();
    const stop = this.#timing?.onLearnt(() => learnt.abort(notAwaited));
    try {
      await clock.sleep(until - clock.now(), AbortSignal.any([signal, learnt.signal]));
      return true;
    } catch (error) {
      // Both may happen at once: the caller gets the reason of its own abort.
      signal.throwIfAborted();
      if (!learnt.signal.aborted) throw error;
      return false;
    } finally {
      stop?.();
    }
  }

  #time(stage: Stage, hasPassed: boolean): void {
    this.#timing?.end(hasPassed);
    const isTimed = stage === 'parsing' || stage === 'verifying';
    // Once waits have begun, the batch comes a second time, or not by the straight way.
    this.#timing =
      isTimed && this.#polls === 0 ? this.#options.pace?.begin(stage, this.#batch) : undefined;
    this.#enteredAt = this.#options.clock.now();
    this.#lookedAt = -Infinity;
  }
}
