import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import { BatchRunner } from '../batches/batch-runner.js';
import type { Charge } from '../batches/charge.js';
import type { BatchProgress, BatchSettings, CollectedExport } from '../batches/drive-options.js';
import { ElectedUuids } from '../batches/elected-uuids.js';
import { halveBatch } from '../batches/halve-batch.js';
import { tallyOf } from '../batches/judge-export.js';
import { isAtEnd, type EndedBatch } from '../batches/known-batch.js';
import { LaunchGate } from '../batches/launch-gate.js';
import { openExport } from '../batches/open-export.js';
import { RefusedSizes } from '../batches/refused-sizes.js';
import { systemClock, type Clock } from '../system/clock.js';
import { systemRandom } from '../system/random.js';
import type { VerificationService } from '../client/verification-service.js';
import { fetchExport } from '../batches/fetch-export.js';
import type { BatchEnding, ExportOpener } from '../batches/result-join.js';
import type { SluiceError } from '../errors/sluice-error.js';
import { defaults } from '../batches/defaults.js';
import type { Parcel, SettledParcel } from './parcel.js';
import { PatientDuplex } from './patient-duplex.js';
import { checkAmount, checkCount } from '../batches/plan.js';
import { UnwantedUploads } from './unwanted-uploads.js';
import type { MatchedExport } from '../results/match-export.js';

export interface DriveBatchesOptions {
  readonly client: VerificationService;
  /**
   * Most batches on the service at once, from upload until verified.
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
  /**
   * Told the names of uploads that may be left on the service though nothing waits for them, because
   * they could not be deleted at the end: their answers were lost, or they were never launched.
   */
  readonly onLeftBehind?: (names: readonly string[]) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Keeps the results of a finished batch. @default the export's bytes, in memory */
  readonly collect?: (batch: Batch, open: ExportOpener) => Promise<MatchedExport>;
}

/**
 * Brings batches through the service, many at once: parcels in (batches; rows pass through), settled
 * batches out, each when it is at its end. One that is too large for the service is sent in parts, which
 * come out in its place, with its `id` and a `part` each. When the source errors, nothing more is launched. When
 * credits or budget are used up, what runs is finished and comes out, a parcel that says so behind it;
 * whoever reads on gets the error.
 *
 * @throws ConfigurationError at once; as a stream does, by `error`: ApiError `unauthorized`,
 *   BudgetError, DeadlineError, …
 */
export function driveBatches(options: DriveBatchesOptions): Duplex {
  return new DriveBatches(options);
}

type Done = (error?: Error | null) => void;

/** See {@link driveBatches}. */
export class DriveBatches extends PatientDuplex {
  readonly #options: DriveBatchesOptions;
  readonly #runner: BatchRunner;
  readonly #concurrency: number;
  readonly #gate: LaunchGate;
  readonly #abort = new AbortController();
  readonly #unwanted: UnwantedUploads;
  /** By label, as the charges are. */
  readonly #results = new Map<string, ExportOpener | MatchedExport>();
  readonly #charges = new Map<string, Charge>();
  #underWay = 0;
  /** Parts of batches that were too large: they go before what comes in. */
  readonly #parts: Batch[] = [];
  /** Waits for a place: rows pass up to the first batch that has none. */
  #waiting: Batch | undefined;
  /** Whether the reader takes more. */
  #isWanted = false;
  /** Held back while a batch waits, or the reader takes no more. */
  #held: Done | undefined;
  #finish: Done | undefined;
  /** Whether the last parcel is pushed. */
  #isOver = false;

  constructor(options: DriveBatchesOptions) {
    super({ objectMode: true, highWaterMark: 1 });
    this.#options = options;
    this.#concurrency = checkCount('concurrency', options.concurrency, defaults.concurrency);
    this.#gate = new LaunchGate({ maxCredits: checkAmount('maxCredits', options.maxCredits) });
    const runId = randomBytes(8).toString('hex');
    this.#unwanted = new UnwantedUploads(runId);
    this.#runner = new BatchRunner({
      service: options.client,
      concurrency: this.#concurrency,
      runId,
      namePrefix: options.batchName ?? defaults.batchName,
      settings: options.settings ?? {},
      pollIntervalMs:
        checkAmount('pollIntervalMs', options.pollIntervalMs) ?? defaults.pollIntervalMs,
      stageDeadlineMs:
        checkAmount('batchDeadlineMs', options.batchDeadlineMs) ?? defaults.batchDeadlineMs,
      gate: this.#gate,
      refusedSizes: new RefusedSizes(),
      uuids: new ElectedUuids(),
      clock: options.clock ?? systemClock,
      random: options.random ?? systemRandom,
      signal: this.#abort.signal,
      record: (progress) => this.#note(progress),
      collect: async (batch, uuid, within) => this.#collect(batch, uuid, within),
    });
  }

  /** The error that comes behind all results; `undefined` while launches are allowed. */
  get stoppedBy(): SluiceError | undefined {
    return this.#gate.closedBy;
  }

  override _write(parcel: Parcel, _encoding: string, done: Done): void {
    // Once stopped, nothing comes in any more.
    if (this.stoppedBy) return;
    this.#held = done;
    if (parcel.kind === 'batch') this.#waiting = parcel.batch;
    else this.#isWanted = this.push(parcel);
    this.#goOn();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#goOn();
  }

  override _final(done: Done): void {
    this.#finish = done;
    this.#finishIfDone();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#abort.abort(error ?? new Error('the stream was closed'));
    done(error);
  }

  async #drive(batch: Batch): Promise<void> {
    this.#underWay += 1;
    try {
      const known = await this.#runner.run(batch);
      this.#unwanted.note(batch, known);
      if (known.stage === 'split') this.#parts.unshift(...(await halveBatch(batch)));
      this.#underWay -= 1;
      if (this.destroyed) return;
      if (isAtEnd(known)) {
        this.#isWanted = this.push(this.#settled(batch, known));
      }
      this.#goOn();
      this.#finishIfDone();
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #goOn(): void {
    // What is never launched is not uploaded either.
    if (this.stoppedBy) return;
    while (this.#underWay < this.#concurrency && this.#parts.length > 0) {
      void this.#drive(this.#parts.shift() as Batch);
    }
    if (this.#waiting) {
      if (this.#underWay >= this.#concurrency) return;
      void this.#drive(this.#waiting);
      this.#waiting = undefined;
    }
    if (!this.#isWanted) return;
    const held = this.#held;
    this.#held = undefined;
    held?.();
  }

  #finishIfDone(): void {
    if (this.#underWay > 0 || this.#isOver || !(this.stoppedBy ?? this.#finish)) return;
    this.#isOver = true;
    void this.#end();
  }

  async #end(): Promise<void> {
    const { client, onLeftBehind } = this.#options;
    try {
      const names = await this.#unwanted.delete(client, {
        signal: this.#abort.signal,
        clock: this.#options.clock ?? systemClock,
        deadlineMs: this.#options.batchDeadlineMs ?? defaults.batchDeadlineMs,
      });
      if (names.length > 0) onLeftBehind?.(names);
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    if (this.destroyed) return;
    const { stoppedBy } = this;
    if (stoppedBy) {
      this.push({ kind: 'stopped', error: stoppedBy } satisfies Parcel);
      this.whenAsked(() => this.destroy(stoppedBy));
    } else {
      this.push(null);
      this.#finish?.();
    }
  }

  #settled(batch: Batch, known: EndedBatch): SettledParcel {
    const label = batchLabel(batch);
    const results = this.#results.get(label);
    const charge = this.#charges.get(label);
    this.#results.delete(label);
    this.#charges.delete(label);
    return {
      kind: 'settled',
      batch,
      batchUuid: known.uuid,
      charge,
      ending: this.#ending(known, results),
    };
  }

  #ending(known: EndedBatch, results: ExportOpener | MatchedExport | undefined): BatchEnding {
    if (known.stage === 'failed') return { failure: known.reason };
    if (results === undefined) throw new Error('an exported batch has no results');
    return { results };
  }

  #note(progress: BatchProgress): void {
    if (progress.charge) this.#charges.set(batchLabel(progress.batch), progress.charge);
    this.#options.onBatch?.(progress);
  }

  async #collect(batch: Batch, uuid: string, signal: AbortSignal): Promise<CollectedExport> {
    const { client, collect } = this.#options;
    const open = openExport(client, batch, uuid, signal);
    const { results, tally } = collect
      ? await collect(batch, open).then((matched) => ({
          results: matched,
          tally: tallyOf(matched),
        }))
      : await fetchExport(open, batch);
    const keep = (): void => {
      this.#results.set(batchLabel(batch), results);
    };
    return { ...tally, keep };
  }
}
