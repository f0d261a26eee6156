import type { VerificationService } from '../../client/client.js';
import type { OptionShape } from '../../platform/check-options.js';
import { amount, called, count, flag, required, signal } from '../../platform/option-kinds.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { Batch } from '../batches/batch.js';
import type { BatchProgress } from '../batches/claim.js';
import type { ColumnChoice, ColumnOptions } from '../columns/column-layout.js';
import {
  type DriveSettings,
  aClient,
  aHistory,
  columnShape,
  countryShape,
  driveShape,
} from '../driver/driver-options.js';
import type { CountryChoice, CountryOptions } from '../plan/plan.js';
import type { ResultHistory } from '../plan/result-cache.js';
import type { ExportOpener } from '../plan/result-join.js';
import type { MatchedExport } from '../results/match-export.js';
import type { Row } from '../../lists/rows/chunks/object-chunk.js';
import type { PhoneColumn, TextColumn } from './enriched-row.js';
import type { VerifyProgress } from './progress.js';

/** How rows are divided into batches, and how many rows wait for their results. */
export interface StreamPlanOptions extends ColumnOptions, CountryOptions {
  /**
   * Most addresses in one batch.
   * @default 50000
   */
  readonly batchSize?: number | undefined;
  /**
   * Most batches on the service at once, from upload until verified.
   * @default 4
   */
  readonly concurrency?: number | undefined;
  /**
   * Most rows that wait for their results in memory.
   * @default (`concurrency` + 1) × `batchSize`
   */
  readonly maxWaitingRows?: number | undefined;
  /**
   * Most bytes of rows that wait; those of a row object are estimated, some 350 at 8 short cells.
   * @default 512 MiB
   */
  readonly maxWaitingBytes?: number | undefined;
  /**
   * Sends an open batch when its oldest row has waited so long, in milliseconds: for sources that
   * pause or never end.
   * @default none
   */
  readonly maxWaitMs?: number | undefined;
  /**
   * Results of earlier runs, opened for this service: an address that was verified lately is not sent
   * again. Its results enter it before their rows come out. The caller opens and closes it.
   * @default none
   */
  readonly history?: ResultHistory | undefined;
  /** What `maxWaitMs` is measured by, for tests. @default the system's */
  readonly clock?: Clock | undefined;
}

/** How batches are sent and their results are fetched. */
export interface DriveBatchesOptions extends DriveSettings {
  /** The service. */
  readonly client: VerificationService;
  /**
   * Called whenever something becomes known of a batch: its stage, `batch_uuid`, cost.
   * @default nothing is called
   */
  readonly onBatch?: ((progress: BatchProgress) => void) | undefined;
  /**
   * Called with the names of uploads that may be left on the service though nothing waits for them, because
   * they could not be deleted at the end: their answers were lost, or they were never launched. A stream
   * that is destroyed or aborted tries for at most ten seconds, and calls before it is closed.
   * @default nothing is called
   */
  readonly onLeftBehind?: ((names: readonly string[]) => void) | undefined;
  /** Keeps the results of a finished batch. @default the export's bytes, in memory */
  readonly collect?: ((batch: Batch, open: ExportOpener) => Promise<MatchedExport>) | undefined;
}

export interface VerifySettings
  extends StreamPlanOptions, Omit<DriveBatchesOptions, 'client' | 'collect'> {
  /** The service; everything that shares a client shares its rate and its concurrency. */
  readonly client: VerificationService;
  /**
   * Deletes each batch from the service when its results have come and, with a history, are in it. What
   * stays all the same is given to `onLeftBehind`: also what was launched before a stream ended early.
   * @default false
   */
  readonly deleteBatches?: boolean | undefined;
  /** Called as rows pass, every hundred of them, and when a batch has got further. @default nothing is called */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
  /** Aborts the whole; its reason is the stream's error. @default never */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Which columns are verified, and for which country: without either nothing can be sent. The country
 * comes first: the compiler looks for it first.
 */
export type TargetChoice = CountryChoice & ColumnChoice;

/**
 * The options of `verify()` and `verifyRows()`.
 *
 * @template Input the rows: their columns are those that can be named
 */
export type VerifyOptions<Input extends object = Row> = Omit<VerifySettings, keyof ColumnOptions> &
  ColumnOptions<TextColumn<Input>, PhoneColumn<Input>, TextColumn<Input>> &
  TargetChoice;

/** The options of `verify()` and of the three streams that it is made of: each takes those of all. */
export const streamShape: OptionShape<VerifySettings & DriveBatchesOptions> = {
  ...columnShape,
  ...countryShape,
  ...driveShape,
  client: { ...aClient, what: 'a Client, which a plan leaves to driveBatches()' },
  batchSize: count,
  maxWaitingRows: count,
  maxWaitingBytes: count,
  maxWaitMs: amount,
  history: aHistory,
  onProgress: called,
  onBatch: called,
  onLeftBehind: called,
  deleteBatches: flag,
  collect: called,
  signal,
};

export const verifyShape = { ...streamShape, client: required(aClient) };
