import type { VerificationService } from '../../client/client.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { BatchState } from '../batches/batch-state.js';
import type { Batch } from '../batches/batch.js';
import type { BatchClaim, BatchProgress } from '../batches/claim.js';
import type { ExportTally } from '../batches/export-check.js';
import type { OddFact } from '../batches/status-answer.js';
import type { UploadRegistry } from '../batches/uploads/list-uploads.js';
import type { BatchSettings } from './driver-options.js';
import type { LaunchGate, RefusedSizes } from './launch-limits.js';
import type { OneAccount } from './one-account.js';
import type { PollEstimator } from './poll-learning.js';

export interface CollectedExport extends ExportTally {
  /** Stores its results once the export is accepted. */
  keep(): Promise<void> | void;
}

/** What a run decides about the launches of its batches. */
export interface LaunchPorts {
  /**
   * Whether a batch is left to the service once it is being verified.
   * @default false
   */
  leavesLaunched?(): boolean;
  /**
   * Called before each launch: gives another upload of the batch that another process made or launched.
   * @default there is no other process
   */
  checkBeforeLaunch?(batch: Batch, state: BatchState): Promise<BatchState>;
}

/** What one batch is driven with. */
export interface DrivePorts extends LaunchPorts {
  readonly service: VerificationService;
  /** Part of every batch's name: identifies the run. */
  readonly runId: string;
  readonly namePrefix: string;
  readonly settings: BatchSettings;
  readonly pollIntervalMs: number;
  /** Longest time in one stage, in milliseconds. */
  readonly stageDeadlineMs: number;
  /** Learns how long stages take from the run's batches. @default none */
  readonly pace?: PollEstimator;
  readonly gate: LaunchGate;
  readonly claim: BatchClaim;
  readonly uuids: UploadRegistry;
  /** The account of the run. @default not checked */
  readonly account?: OneAccount;
  /** Sizes that the service has refused for any batch of the run. */
  readonly refusedSizes: RefusedSizes;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /**
   * Called and awaited before each step with an effect and after each answer; in a durable run it returns
   * once the state is on disk.
   */
  record(progress: BatchProgress): Promise<void> | void;
  /**
   * Reads the whole export of a finished batch.
   *
   * @throws ContractError, TransportError for an incomplete export, which is fetched again
   */
  collect(batch: Batch, uuid: string, signal: AbortSignal): Promise<CollectedExport>;
  /** Called each time that the service gives an unknown status. */
  onUnknownStatus?(status: string, name: string): void;
  /** Called each time that a status has a fact that cannot be right, and on which nothing depends. */
  onOddStatus?(fact: OddFact, name: string): void;
  /** Makes a request in its turn. @default at once */
  inTurn?<Answer>(request: () => Promise<Answer>): Promise<Answer>;
  /**
   * Called once: when the batch has passed preparation, or has ended before. Not when it was too large, which
   * says nothing about the others.
   */
  onPrepared?(): void;
  /** Called at once with what stops the run: recording it may have to wait. */
  onFatal?(error: unknown): void;
}
