import { randomBytes, randomInt } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import type { Batch } from '../batches/batch.js';
import { BatchRunner } from '../batches/batch-runner.js';
import type { Charge } from '../batches/charge.js';
import type { BatchProgress, BatchSettings } from '../batches/drive-batch.js';
import type { KnownBatch } from '../batches/known-batch.js';
import { LaunchGate } from '../batches/launch-gate.js';
import { systemClock, type Clock } from '../client/clock.js';
import type { VerificationService } from '../client/verification-service.js';
import { fetchExport } from './fetch-export.js';
import type { BatchEnding, ExportOpener } from '../batches/result-join.js';
import type { BatchParcel, Parcel, SettledParcel } from './parcel.js';
import { defaults } from './defaults.js';
import type { MatchedExport } from '../results/match-export.js';

export interface DriveBatchesOptions {
  readonly client: VerificationService;
  /**
   * Most batches on the service at once.
   * @default 4
   */
  readonly concurrency?: number;
  /**
   * First wait between two status polls of a batch, in milliseconds; waits grow from there.
   * @default 1000
   */
  readonly pollIntervalMs?: number;
  /**
   * Longest time a batch may stay in one stage, in milliseconds.
   * @default 24 hours
   */
  readonly batchDeadlineMs?: number;
  /**
   * Most credits of each type, before refunds.
   * @default none
   */
  readonly maxCredits?: number;
  /**
   * What every batch's name begins with.
   * @default 'sluice'
   */
  readonly batchName?: string;
  /**
   * Parameters of every batch (spec 2.3) beside its type and country.
   * @default the service's defaults
   */
  readonly settings?: BatchSettings;
  /** Told whatever becomes known of a batch. */
  readonly onBatch?: (progress: BatchProgress) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Keeps the results of a finished batch. @default the export's bytes, in memory */
  readonly collect?: (batch: Batch, open: ExportOpener) => Promise<MatchedExport>;
}

/**
 * Brings batches through the service, many at once: parcels in (batches; rows pass through), settled
 * batches out, each when it is at its end. When the source errors, nothing more is launched.
 *
 * @throws as a stream does, by `error`: ApiError `unauthorized`, BudgetError, DeadlineError, …
 */
export function driveBatches(options: DriveBatchesOptions): Transform {
  return new DriveBatches(options);
}

class DriveBatches extends Transform {
  readonly #options: DriveBatchesOptions;
  readonly #runner: BatchRunner;
  readonly #concurrency: number;
  readonly #gate: LaunchGate;
  readonly #abort = new AbortController();
  readonly #results = new Map<number, ExportOpener | MatchedExport>();
  readonly #charges = new Map<number, Charge>();
  /** Held back while as many batches are under way as there are places. */
  #resume: TransformCallback | undefined;
  #finish: TransformCallback | undefined;

  constructor(options: DriveBatchesOptions) {
    super({ objectMode: true, writableHighWaterMark: 1, readableHighWaterMark: 1 });
    this.#options = options;
    this.#concurrency = options.concurrency ?? defaults.concurrency;
    this.#gate = new LaunchGate({ maxCredits: options.maxCredits });
    this.#runner = new BatchRunner({
      service: options.client,
      concurrency: this.#concurrency,
      runId: randomBytes(8).toString('hex'),
      namePrefix: options.batchName ?? defaults.batchName,
      settings: options.settings ?? {},
      pollIntervalMs: options.pollIntervalMs ?? defaults.pollIntervalMs,
      stageDeadlineMs: options.batchDeadlineMs ?? defaults.batchDeadlineMs,
      gate: this.#gate,
      clock: options.clock ?? systemClock,
      random: options.random ?? systemRandom,
      signal: this.#abort.signal,
      record: (progress) => this.#note(progress),
      collect: (batch, uuid) => this.#collect(batch, uuid),
    });
  }

  override _transform(parcel: Parcel, _encoding: string, done: TransformCallback): void {
    if (parcel.kind !== 'batch') {
      this.push(parcel);
      done();
      return;
    }
    this.#start(parcel);
    if (this.#runner.underWay < this.#concurrency) done();
    else this.#resume = done;
  }

  override _flush(done: TransformCallback): void {
    this.#finish = done;
    this.#checkFinished();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#abort.abort(error ?? new Error('the stream was closed'));
    done(error);
  }

  #start({ batch }: BatchParcel): void {
    this.#runner.run(batch).then(
      (known) => {
        // The runner frees the place of a batch right after this.
        setImmediate(() => this.#ended(batch, known));
      },
      (error: unknown) => this.destroy(error as Error),
    );
  }

  #ended(batch: Batch, known: KnownBatch): void {
    if (this.destroyed) return;
    if (known.stage === 'exported' || known.stage === 'failed') {
      this.push(this.#settled(batch, known));
    }
    if (this.#gate.closedBy) {
      // What runs is finished; nothing more is taken in.
      if (this.#runner.underWay === 0) this.destroy(this.#gate.closedBy);
      return;
    }
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
    this.#checkFinished();
  }

  #checkFinished(): void {
    if (this.#runner.underWay > 0 || !this.#finish) return;
    const finish = this.#finish;
    this.#finish = undefined;
    finish();
  }

  #settled(
    batch: Batch,
    known: Extract<KnownBatch, { readonly stage: 'exported' | 'failed' }>,
  ): SettledParcel {
    const results = this.#results.get(batch.id);
    const charge = this.#charges.get(batch.id);
    this.#results.delete(batch.id);
    this.#charges.delete(batch.id);
    return {
      kind: 'settled',
      batch,
      batchUuid: known.uuid,
      charge,
      ending: this.#ending(known, results),
    };
  }

  #ending(known: KnownBatch, results: ExportOpener | MatchedExport | undefined): BatchEnding {
    if (known.stage === 'failed') return { failure: known.reason };
    if (results === undefined) throw new Error('an exported batch has no results');
    return { results };
  }

  #note(progress: BatchProgress): void {
    if (progress.charge) this.#charges.set(progress.batch.id, progress.charge);
    this.#options.onBatch?.(progress);
  }

  async #collect(batch: Batch, uuid: string): Promise<void> {
    const { client, collect } = this.#options;
    const open = async (): Promise<AsyncIterable<Uint8Array>> => {
      const { body } = await client.exportBatch(
        uuid,
        { format: 'json', include_details: false, include_statistics: false },
        { signal: this.#abort.signal },
      );
      return body;
    };
    const results = collect ? await collect(batch, open) : await fetchExport(open, batch.lane.type);
    this.#results.set(batch.id, results);
  }
}

function systemRandom(): number {
  return randomInt(2 ** 32) / 2 ** 32;
}
