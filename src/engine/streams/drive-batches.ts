import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { addCleanUp, cleanUpMs } from '../../client/clean-ups.js';
import type { SluiceError } from '../../platform/errors/sluice-error.js';
import type { Notice, OnNotice } from '../../platform/text/notices.js';
import { CalledBack } from '../../platform/waiting/promises.js';
import { checkOptions } from '../../platform/check-options.js';
import { type EndedBatch, isAtEnd, type BatchState, planned } from '../batches/batch-state.js';
import { type Batch, batchLabel } from '../batches/batch.js';
import type { Charge } from '../batches/status-answer.js';
import { type BatchProgress, LocalClaims } from '../batches/claim.js';
import { tallyOf, type CollectedExport } from '../batches/export-check.js';
import { BatchPool } from '../driver/batch-pool.js';
import { defaults } from '../driver/driver-options.js';
import type { BatchEnding, ExportOpener } from '../plan/result-join.js';
import type { MatchedExport } from '../results/match-export.js';
import type { RowStream } from './enriched-row.js';
import type { LaunchNotes } from '../driver/collect-launched.js';
import {
  type Parcel,
  parcelKinds,
  noteCompared,
  type SettledParcel,
  strangerError,
  PatientDuplex,
} from './parcel.js';
import { fetchExport } from './memory-export.js';
import { StreamUploads } from './stream-deletions.js';
import { type DriveBatchesOptions, verifyShape } from './stream-options.js';

/**
 * Drives batches through the service concurrently: parcels in (batches; rows pass through), settled batches
 * out as they finish. A batch that is too large for the service comes out as its parts, with its `id` and a
 * `part` each. When the source fails, nothing more is launched. When credits or budget are used up, running
 * batches are finished and come out, followed by a parcel that says so; reading on gives the error.
 *
 * @throws ConfigurationError at once; as a stream does, by `error`: ApiError `unauthorized`, BudgetError,
 * DeadlineError, …
 *
 * @example
 * ```ts
 * const text = Buffer.from('good@sluice.test\n');
 * const group = { type: 'email', country: 'US' } as const;
 * const batch = { id: 0, group, addresses: 1, sizeBytes: text.length, checksum: 0, open: () => [text] };
 * const parcels: Parcel[] = [{ kind: 'batch', batch }];
 * await pipeline(parcels, driveBatches({ client }), async (settled: AsyncIterable<Parcel>) => {
 *   for await (const parcel of settled) console.log(parcel.kind); // settled
 * });
 * ```
 */
export function driveBatches(options: DriveBatchesOptions): RowStream<Parcel, Parcel>;
export function driveBatches(options: DriveBatchesOptions): Duplex {
  checkOptions(options, verifyShape);
  return new DriveBatches(options);
}

type Done = (error?: Error | null) => void;

export class DriveBatches extends PatientDuplex {
  readonly #options: DriveBatchesOptions;
  readonly #runId = randomBytes(8).toString('hex');
  readonly #calledBack = new CalledBack((error) => this.destroy(error as Error));
  readonly #drive: BatchPool;
  readonly #claims = new LocalClaims();
  readonly #abort = new AbortController();
  readonly #inRun: (work: () => void) => void;
  readonly #uploads: StreamUploads;
  /** By label, as the charges are. */
  readonly #results = new Map<string, ExportOpener | MatchedExport>();
  readonly #charges = new Map<string, Charge>();
  #isWanted = false;
  /** Withheld while a batch waits for a place, or the reader wants no more. */
  #held: Done | undefined;
  #finish: Done | undefined;
  #isOver = false;

  readonly #notes: LaunchNotes | undefined;

  constructor(
    options: DriveBatchesOptions & {
      /** Whether batches stay on the service when they are at their end. @default false */
      readonly keepsBatches?: boolean;
      readonly onNotice?: OnNotice | undefined;
      readonly inRun?: (work: () => void) => void;
      /** Joins an export while it is read, in place of keeping it. */
      readonly match?: (batch: Batch, open: ExportOpener) => Promise<MatchedExport>;
    },
    /** Records that survive the process. */
    notes?: LaunchNotes,
  ) {
    super({ objectMode: true, highWaterMark: 1 });
    this.#notes = notes;
    this.#inRun = options.inRun ?? ((work) => work());
    this.#options = {
      ...options,
      onBatch: this.#calledBack.watch(options.onBatch),
      onLeftBehind: this.#calledBack.watch(options.onLeftBehind),
    };
    this.#drive = new BatchPool(
      {
        service: options.client,
        runId: this.#runId,
        settings: options,
        keepsBatches: options.keepsBatches ?? false,
        isResumable: false,
        signal: this.#abort.signal,
      },
      {
        claim: (batch) =>
          this.#claims.claim(batch, planned, async (progress) => {
            const { state } = progress;
            if (state.stage === 'uploading') await notes?.noteUploads(this.#runId);
            if (state.stage === 'launching') await notes?.note(batch, state.uuid);
            this.#note(progress);
          }),
        collect: async (batch, open) => this.#collect(batch, open, options.match),
        leave: (batch, state) => this.#leave(batch, state),
        freed: () => this.#freed(),
        onNotice: options.onNotice ?? warn,
      },
    );
    this.#uploads = new StreamUploads(this.#options, this.#runId, this.#drive.uploads);
  }

  /** The error that follows all results; `undefined` while launches are allowed. */
  get stoppedBy(): SluiceError | undefined {
    return this.#drive.gate.closedBy;
  }

  override _write(parcel: Parcel, _encoding: string, done: Done): void {
    // Once stopped, nothing more is accepted.
    if (this.stoppedBy) return;
    this.#held = done;
    // Rows pass up to the first batch without a place.
    if (parcel.kind === 'batch') this.#inRun(() => this.#drive.add([parcel.batch]));
    else if (parcelKinds.has(parcel.kind)) this.#isWanted = this.push(parcel);
    else this.destroy(strangerError('driveBatches() takes what rowsToBatches() gives', parcel));
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
    if (this.#uploads.isEmpty) {
      done(error);
      return;
    }
    const cleanUp = this.#cleanUp();
    addCleanUp(this.#options.client, cleanUp);
    cleanUp.then(
      () => done(error),
      (failed: unknown) => done(error ?? (failed as Error)),
    );
  }

  /** Unlaunched batches are not continued: their personal data must not stay on the service. */
  async #cleanUp(): Promise<void> {
    await this.#uploads.deleteCutOff(cleanUpMs, async () => this.#drive.idle());
    await this.#calledBack.settled();
    // Where that cannot be recorded, the next stream looks again.
    await this.#notes?.dropUploads(this.#runId).catch(() => undefined);
  }

  #leave(batch: Batch, state: BatchState): void {
    this.#uploads.leave(batch, state);
    if (!this.destroyed && isAtEnd(state)) this.#isWanted = this.push(this.#settled(batch, state));
  }

  #freed(): void {
    const stopped = this.#drive.stoppedBy;
    if (stopped) this.destroy(stopped.error as Error);
    if (this.destroyed) return;
    this.#goOn();
    this.#finishIfDone();
  }

  #goOn(): void {
    if (this.stoppedBy || !this.#drive.isTaken || !this.#isWanted) return;
    const held = this.#held;
    this.#held = undefined;
    held?.();
  }

  #finishIfDone(): void {
    if (!this.#drive.isIdle || this.#isOver || !(this.stoppedBy ?? this.#finish)) return;
    this.#isOver = true;
    void this.#end();
  }

  async #end(): Promise<void> {
    try {
      const { batchDeadlineMs = defaults.batchDeadlineMs } = this.#options;
      await this.#uploads.delete(this.#abort.signal, batchDeadlineMs);
      await this.#calledBack.settled();
      await this.#notes?.dropUploads(this.#runId);
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

  #settled(batch: Batch, state: EndedBatch): SettledParcel {
    const label = batchLabel(batch);
    const results = this.#results.get(label);
    const charge = this.#charges.get(label);
    this.#results.delete(label);
    this.#charges.delete(label);
    return {
      kind: 'settled',
      batch,
      batchUuid: state.uuid,
      charge,
      ending: this.#ending(batch, state, results),
    };
  }

  #ending(
    batch: Batch,
    state: EndedBatch,
    results: ExportOpener | MatchedExport | undefined,
  ): BatchEnding {
    if (state.stage === 'failed') return { failure: state.reason };
    if (results === undefined) throw new Error('an exported batch has no results');
    noteCompared(results, batch);
    return { results };
  }

  #note(progress: BatchProgress): void {
    this.#uploads.note(progress);
    if (progress.charge) this.#charges.set(batchLabel(progress.batch), progress.charge);
    this.#options.onBatch?.(progress);
  }

  async #collect(
    batch: Batch,
    open: ExportOpener,
    match?: (batch: Batch, open: ExportOpener) => Promise<MatchedExport>,
  ): Promise<CollectedExport> {
    const { results, tally } = match
      ? await match(batch, open).then((results) => ({ results, tally: tallyOf(results) }))
      : await fetchExport(open, batch, this.#options.collect);
    const keep = (): void => {
      this.#results.set(batchLabel(batch), results);
    };
    return { ...tally, keep };
  }
}

/** Where nobody listens to notices, those that somebody should look at are warnings of the process. */
function warn(given: Notice | string): void {
  if (typeof given === 'string' || !given.isWarning || given.code === 'launches_stopped') return;
  const code = `SLUICE_${String(given.code).toUpperCase()}`;
  process.emitWarning(given.message, { type: 'SluiceWarning', code });
}
