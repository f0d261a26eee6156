import type { Clock } from '../../platform/waiting/clock.js';
import type { VerificationService } from '../../client/client.js';
import type { BatchParametersInput } from '../../contract/parameters.js';
import type { BatchClaim } from '../batches/batch-claim.js';
import type { BatchProgress } from '../batches/batch-progress.js';
import type { Batch } from '../batches/batch.js';
import type { ElectedUuids } from '../batches/uploads/elected-uuids.js';
import type { ExportTally } from '../batches/export-check.js';
import type { KnownBatch } from '../batches/batch-state.js';
import type { LaunchGate } from './launch-gate.js';
import type { RefusedSizes } from './refused-sizes.js';
import type { StagePace } from './poll-learning.js';

/** What is sent to the service with every batch of a run, besides its batch group. */
export type BatchSettings = Omit<BatchParametersInput, 'type' | 'target_country'> & {
  readonly description?: string | null | undefined;
};

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
  readonly pace?: StagePace;
  readonly gate: LaunchGate;
  /** The right to drive the batch. */
  readonly claim: Pick<BatchClaim, 'lost' | 'confirm' | 'reserve'>;
  /** Which uuids the uploads of the run have. */
  readonly uuids: ElectedUuids;
  /** What the service has refused for its size, in all batches of the run. */
  readonly refusedSizes: RefusedSizes;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /**
   * Called before each step that may have an effect and after each answer, and waited for: where runs
   * are durable, it returns when the news are on disk.
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
