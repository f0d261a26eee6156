import type { VerificationService } from '../../client/client.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { BatchState } from '../batches/batch-state.js';
import type { Batch } from '../batches/batch.js';
import type { BatchClaim, BatchProgress } from '../batches/claim.js';
import type { ExportTally } from '../batches/export-check.js';
import type { UploadRegistry } from '../batches/uploads/list-uploads.js';
import type { BatchSettings } from './driver-options.js';
import type { LaunchGate, RefusedSizes } from './launch-limits.js';
import type { OneAccount } from './one-account.js';
import type { PollEstimator } from './poll-learning.js';

export interface CollectedExport extends ExportTally {
  /** Makes its results safe: it is what was asked for. */
  keep(): Promise<void> | void;
}

/** What one batch is driven with. */
export interface DrivePorts {
  readonly service: VerificationService;
  /** Part of every batch's name: identifies this run. */
  readonly runId: string;
  readonly namePrefix: string;
  readonly settings: BatchSettings;
  readonly pollIntervalMs: number;
  /** Longest time in one stage, in milliseconds. */
  readonly stageDeadlineMs: number;
  /** What the batches of a run learn from each other of how long stages take. @default nothing */
  readonly pace?: PollEstimator;
  readonly gate: LaunchGate;
  readonly claim: BatchClaim;
  /** Which uuids the uploads of the run have. */
  readonly uuids: UploadRegistry;
  /** Whose the batches are. @default it is not asked */
  readonly account?: OneAccount;
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
  lookAgain?(batch: Batch, state: BatchState): Promise<BatchState>;
  /** The service calls a batch by a word that its specification does not have; each time that it does. */
  onUnknownStatus?(status: string, name: string): void;
  /** Makes a request when it is its turn. @default at once */
  inTurn?<Answer>(request: () => Promise<Answer>): Promise<Answer>;
  /**
   * Called once: when the batch is through upload and preparation, or has ended before. Not when it was
   * too large: that says nothing about the others.
   */
  onPrepared?(): void;
  /** Called with what stops the run as soon as it is known: what is written down of it may wait for its turn. */
  onFatal?(error: unknown): void;
}
