import pLimit, { type LimitFunction } from 'p-limit';
import { ApiError, ConfigurationError } from '../../platform/errors/errors.js';
import { observeBatch } from '../../platform/observability/observe.js';
import { isAtEnd, type KnownBatch, mayHaveLaunched } from '../batches/batch-state.js';
import { type Batch, batchLabel } from '../batches/batch.js';
import type { Charge } from '../batches/charge.js';
import { type BatchClaim, ClaimLostError } from '../batches/claim.js';
import { driveBatch } from './batch-driver.js';
import { isWithoutAnswer } from './batch-errors.js';
import type { DriveOptions } from './driver-options.js';
import { PollEstimator } from './poll-learning.js';

interface BatchSlotsOptions extends Omit<
  DriveOptions,
  'onPrepared' | 'pace' | 'inTurn' | 'record' | 'claim'
> {
  /** Most batches on the service at once, from upload until verified; and most requests for them. */
  readonly concurrency: number;
  /** What an earlier process heard that a batch has cost. */
  readonly charge?: (batch: Batch) => Charge | undefined;
  /** Called when a place has become free, and when the batch that goes ahead lets others follow. */
  readonly onPlace?: () => void;
}

/**
 * Drives many batches at once, under a limit. One that is verified makes room for the next: the service
 * works on that while the results come. The first goes ahead alone through upload and
 * preparation: what the service refuses there, it refuses of all, and nothing was paid. One that was
 * only too large proves nothing: the next goes ahead in its place.
 */
export class BatchSlots {
  readonly #options: BatchSlotsOptions;
  readonly #places: LimitFunction;
  readonly #requests: LimitFunction;
  readonly #stop = new AbortController();
  readonly #pace = new PollEstimator();
  readonly #signal: AbortSignal;
  /** Whether the service has taken a batch. */
  #isProven = false;
  /** Settled when the batch that goes ahead is through, or cannot be. */
  #ahead: Promise<void> | undefined;
  #stoppedBy: { readonly error: unknown } | undefined;

  constructor(options: BatchSlotsOptions) {
    this.#options = options;
    this.#places = pLimit(options.concurrency);
    this.#requests = pLimit(options.concurrency);
    this.#signal = AbortSignal.any([options.signal, this.#stop.signal]);
  }

  /** Whether another batch would be driven at once. */
  get hasPlace(): boolean {
    const { activeCount, pendingCount } = this.#places;
    return activeCount + pendingCount < this.#options.concurrency;
  }

  /** The service has taken a batch of this run before: none needs to go ahead alone. */
  noteProven(): void {
    this.#isProven = true;
  }

  /**
   * Drives a batch to its end as soon as there is a place for it.
   *
   * @returns as `driveBatch` does; what was known, when the gate has closed before a place was free
   * @throws ClaimLostError when another process may have it; what stops the run, at once for every batch
   *   that has not ended
   */
  async run(batch: Batch, known: KnownBatch, claim: BatchClaim): Promise<KnownBatch> {
    return new Promise((resolve, reject) => {
      void this.#places(
        async () =>
          new Promise<void>((leave) => {
            this.#driveInTurn(batch, known, { claim, leave }).then(resolve, reject).finally(leave);
          }),
      ).then(() => this.#options.onPlace?.());
    });
  }

  /** Makes another request for a batch as soon as it is its turn. */
  async inTurn<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    return this.#requests(request);
  }

  async #driveInTurn(batch: Batch, known: KnownBatch, place: Place): Promise<KnownBatch> {
    while (!this.#isProven) {
      if (!this.#ahead) return this.#goAhead(batch, known, place);
      await this.#ahead;
    }
    return this.#drive(batch, known, place);
  }

  async #goAhead(batch: Batch, known: KnownBatch, place: Place): Promise<KnownBatch> {
    let letOthersGo = (): void => undefined;
    this.#ahead = new Promise((resolve) => {
      letOthersGo = () => {
        this.#ahead = undefined;
        resolve();
        this.#options.onPlace?.();
      };
    });
    const onPrepared = (): void => {
      this.#isProven = true;
      letOthersGo();
    };
    try {
      return await this.#drive(batch, known, { ...place, onPrepared });
    } finally {
      letOthersGo();
    }
  }

  async #drive(
    batch: Batch,
    known: KnownBatch,
    { claim, leave, onPrepared }: Place & { readonly onPrepared?: () => void },
  ): Promise<KnownBatch> {
    const { gate } = this.#options;
    // What is never launched is not uploaded either.
    if (gate.isClosedTo(batch) && !mayHaveLaunched(known)) return known;
    try {
      return await observeDrive(batch, known, {
        ...this.#options,
        claim,
        pace: this.#pace,
        signal: claim.lost ? AbortSignal.any([this.#signal, claim.lost]) : this.#signal,
        inTurn: async (request) => this.inTurn(request),
        record: async (progress) => {
          await claim.record(progress);
          if (progress.known.stage === 'done') leave();
        },
        ...(onPrepared && { onPrepared }),
      });
    } catch (caught) {
      if (caught instanceof ClaimLostError) throw caught;
      const error = this.#isProven ? caught : refusedAtOnce(caught);
      this.#stoppedBy ??= { error };
      this.#stop.abort(this.#stoppedBy.error);
      throw this.#stoppedBy.error;
    }
  }
}

/** What a batch that is driven holds. */
interface Place {
  readonly claim: BatchClaim;
  /** Makes room for the next batch. */
  readonly leave: () => void;
}

/** What the service says to the form of the first batch, it says to the configuration. */
function refusedAtOnce(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.retryable || isWithoutAnswer(error)) return error;
  if (error.code === 'unauthorized' || error.code === 'forbidden') return error;
  return new ConfigurationError(
    `the service refuses the first batch, so nothing was paid: ${error.message}`,
    { code: 'batch_refused', cause: error },
  );
}

/**
 * Drives a batch as `driveBatch` does, and tells those who listen of its way. What it has cost is told once,
 * by the process that brings it to its end.
 */
async function observeDrive(
  batch: Batch,
  known: KnownBatch,
  options: DriveOptions & Pick<BatchSlotsOptions, 'charge'>,
): Promise<KnownBatch> {
  const { group, addresses } = batch;
  let charge = options.charge?.(batch);
  return observeBatch(
    { batch: batchLabel(batch), type: group.type, country: group.country, addresses },
    async (observe) =>
      driveBatch(batch, known, {
        ...options,
        record: async (progress) => {
          // Written down first: what is told has happened.
          await options.record(progress);
          charge = mayHaveLaunched(progress.known) ? (progress.charge ?? charge) : undefined;
          const { name, known: now } = progress;
          observe({
            name,
            batchUuid: 'uuid' in now ? now.uuid : undefined,
            stage: now.stage,
            reason: now.stage === 'failed' ? now.reason : undefined,
          });
        },
      }),
    (ended) => {
      const isTold = known.stage === 'done' && known.isRetried === true;
      const launched = ended !== undefined && isAtEnd(ended) && mayHaveLaunched(ended) && !isTold;
      const { spent, refunded } = {
        spent: undefined,
        refunded: undefined,
        ...(launched && charge),
      };
      return { stage: ended?.stage, launched, spent, refunded };
    },
  );
}
