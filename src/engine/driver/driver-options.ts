import type { VerificationService } from '../../client/client.js';
import {
  type BatchParametersInput,
  uploadForm,
  type UploadFormInput,
} from '../../contract/parameters.js';
import {
  amount,
  called,
  clock,
  columnName,
  columnNames,
  count,
  flag,
  type OptionShape,
  record,
  recordOf,
  text,
  withMethods,
  shapeOfSchema,
} from '../../platform/check-options.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { KnownBatch } from '../batches/batch-state.js';
import type { Batch } from '../batches/batch.js';
import type { BatchClaim, BatchProgress } from '../batches/claim.js';
import type { ExportTally } from '../batches/export-check.js';
import type { UploadRegistry } from '../batches/uploads/list-uploads.js';
import type { ColumnOptions } from '../columns/column-layout.js';
import type { DoubtOptions } from '../plan/column-quality.js';
import type { CountryOptions } from '../plan/plan.js';
import type { LaunchGate, RefusedSizes } from './launch-limits.js';
import type { PollEstimator } from './poll-learning.js';

/** What is sent to the service with every batch of a run, besides its batch group. */
export type BatchSettings = Omit<BatchParametersInput, 'type' | 'target_country'> & {
  readonly description?: string | null | undefined;
};

/** How batches are driven, whatever becomes of their results. */
export interface DriveSettings {
  /**
   * Most batches on the service at once, from upload until verified.
   * @default 4
   */
  readonly concurrency?: number | undefined;
  /**
   * First wait between two status polls of a batch, in milliseconds; waits grow from there.
   * @default 1000
   */
  readonly pollIntervalMs?: number | undefined;
  /**
   * Longest time a batch may get no further, in milliseconds.
   * @default 24 hours
   */
  readonly batchDeadlineMs?: number | undefined;
  /**
   * Most credits of each type that may be spent, before refunds: a launch that would cost more stops the
   * run. Of a durable run over all its resumptions.
   * @default none
   */
  readonly maxCredits?: number | undefined;
  /**
   * What every batch's name begins with.
   * @default 'sluice'
   */
  readonly batchName?: string | undefined;
  /**
   * Parameters of every batch (spec 2.3) beside its type and country.
   * @default the service's defaults
   */
  readonly settings?: BatchSettings | undefined;
  /** Time and waits, for tests. @default the system's */
  readonly clock?: Clock | undefined;
  /** Numbers from 0 to below 1, which vary the waits; for tests. @default `Math.random` */
  readonly random?: (() => number) | undefined;
}

/** An export that was read to its end. */
export interface CollectedExport extends ExportTally {
  /** Makes its results safe: it is what was asked for. */
  keep(): Promise<void> | void;
}

export interface DriveOptions {
  readonly service: VerificationService;
  /** Part of every batch's name: tells this run from all others. */
  readonly runId: string;
  readonly namePrefix: string;
  readonly settings: BatchSettings;
  readonly pollIntervalMs: number;
  /** Longest time in one stage, in milliseconds. */
  readonly stageDeadlineMs: number;
  /** What the batches of a run learn from each other of how long stages take. @default nothing */
  readonly pace?: PollEstimator;
  readonly gate: LaunchGate;
  /** The right to drive the batch. */
  readonly claim: Pick<BatchClaim, 'lost' | 'confirm' | 'reserve'>;
  /** Which uuids the uploads of the run have. */
  readonly uuids: UploadRegistry;
  /** What the service has refused for its size, in all batches of the run. */
  readonly refusedSizes: RefusedSizes;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /**
   * Called before each step that may have an effect and after each answer, and waited for: where runs
   * are durable, it returns when the event are on disk.
   */
  record(progress: BatchProgress): Promise<void> | void;
  /**
   * Reads the export of a finished batch to its end.
   *
   * @throws ContractError, TransportError when the export was not whole: it is fetched again
   */
  collect(batch: Batch, uuid: string, signal: AbortSignal): Promise<CollectedExport>;
  /**
   * Whether a batch is left to the service from the moment it verifies it.
   * @default it is waited for
   */
  leavesLaunched?(): boolean;
  /**
   * Asked before each launch whether to go on with another upload of the batch, which another process
   * made or launched.
   * @default there is no other process
   */
  lookAgain?(batch: Batch, known: KnownBatch): Promise<KnownBatch>;
  /** Makes a request when it is its turn. @default at once */
  inTurn?<Answer>(request: () => Promise<Answer>): Promise<Answer>;
  /**
   * Called once: when the batch is through upload and preparation, or has ended before. Not when it was
   * too large: that tells nothing of the others.
   */
  onPrepared?(): void;
}

export const columnShape: OptionShape<ColumnOptions> = {
  email: columnNames,
  phone: columnNames,
  countryColumn: columnName,
  countryFrom: columnName,
  prefix: recordOf('an object of names by column, such as { email: "mail" }', text),
  provenance: flag,
  columns: columnNames,
  suggest: flag,
};

export const countryShape: OptionShape<CountryOptions> = { country: text, emailCountry: text };

/** What Sluice itself says of each batch is no setting. */
const {
  type: _type,
  target_country: _country,
  name: _name,
  ...settingsShape
}: OptionShape<UploadFormInput> = shapeOfSchema(uploadForm);

export const driveShape: OptionShape<DriveSettings> = {
  concurrency: count,
  pollIntervalMs: amount,
  batchDeadlineMs: amount,
  maxCredits: amount,
  batchName: text,
  settings: { ...record, members: settingsShape satisfies OptionShape<BatchSettings> },
  clock,
  random: called,
};

export const doubtShape: OptionShape<DoubtOptions> = { onDoubtfulColumns: called };

export const aClient = withMethods('a Client', 'uploadBatch', 'launchBatch', 'exportBatch');
export const aHistory = withMethods('an opened History', 'recall', 'keep');

/** What holds where the caller says nothing. */
export const defaults = {
  batchSize: 50_000,
  concurrency: 4,
  pollIntervalMs: 1000,
  batchDeadlineMs: 24 * 60 * 60 * 1000,
  maxWaitingBytes: 512 * 1024 * 1024,
  batchName: 'sluice',
} as const;
