import pLimit, { type LimitFunction } from 'p-limit';
import { ApiError, ConfigurationError } from '../errors/family.js';
import type { Batch } from './batch.js';
import type { DriveOptions } from './drive-batch.js';
import { planned, type KnownBatch } from './known-batch.js';
import { observeDrive } from './observe-drive.js';
import { StagePace } from './stage-pace.js';

export interface BatchRunnerOptions extends Omit<DriveOptions, 'onPrepared' | 'pace'> {
  /** Most batches on the service at once. */
  readonly concurrency: number;
  /** Whether the service has taken a batch of this run before, so that none needs to go ahead alone. */
  readonly provenBefore?: boolean;
}

/**
 * Drives many batches at once, under a limit. The first goes ahead alone through upload and
 * preparation: what the service refuses there, it refuses of all, and nothing was paid. One that was
 * only too large proves nothing: the next goes ahead in its place.
 */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #limit: LimitFunction;
  readonly #stop = new AbortController();
  readonly #pace = new StagePace();
  readonly #signal: AbortSignal;
  /** Whether the service has taken a batch. */
  #isProven: boolean;
  /** Settled when the batch that goes ahead is through, or cannot be. */
  #ahead: Promise<void> | undefined;
  #stoppedBy: { readonly error: unknown } | undefined;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#limit = pLimit(options.concurrency);
    this.#signal = AbortSignal.any([options.signal, this.#stop.signal]);
    this.#isProven = options.provenBefore ?? false;
  }

  /** Batches taken and not yet at their end. */
  get underWay(): number {
    return this.#limit.activeCount + this.#limit.pendingCount;
  }

  /**
   * Drives a batch to its end as soon as there is a place for it.
   *
   * @returns as `driveBatch` does
   * @throws what stops the run, at once for every batch that has not ended
   */
  async run(batch: Batch, known: KnownBatch = planned): Promise<KnownBatch> {
    return this.#limit(async () => {
      while (!this.#isProven) {
        if (!this.#ahead) return this.#goAhead(batch, known);
        await this.#ahead;
      }
      return this.#drive(batch, known);
    });
  }

  async #goAhead(batch: Batch, known: KnownBatch): Promise<KnownBatch> {
    let letOthersGo = (): void => undefined;
    this.#ahead = new Promise((resolve) => {
      letOthersGo = () => {
        this.#ahead = undefined;
        resolve();
      };
    });
    const onPrepared = (): void => {
      this.#isProven = true;
      letOthersGo();
    };
    try {
      return await this.#drive(batch, known, onPrepared);
    } finally {
      letOthersGo();
    }
  }

  async #drive(batch: Batch, known: KnownBatch, onPrepared?: () => void): Promise<KnownBatch> {
    try {
      return await observeDrive(batch, known, {
        ...this.#options,
        pace: this.#pace,
        signal: this.#signal,
        ...(onPrepared && { onPrepared }),
      });
    } catch (caught) {
      const error = this.#isProven ? caught : refusedAtOnce(caught);
      this.#stoppedBy ??= { error };
      this.#stop.abort(this.#stoppedBy.error);
      throw this.#stoppedBy.error;
    }
  }
}

/** What the service says to the form of the first batch, it says to the configuration. */
function refusedAtOnce(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.retryable) return error;
  if (error.code === 'unauthorized' || error.code === 'forbidden') return error;
  return new ConfigurationError(
    `the service refuses the first batch, so nothing was paid: ${error.message}`,
    { code: 'batch_refused', cause: error },
  );
}
