import type { Client } from '../../../client/client.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import type { Batch } from '../../batches/batch.js';
import type { Plan } from '../../plan/plan.js';
import type { BatchStore } from '../../stores/run-store.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { Reconciliation } from '../resume/reconcile.js';

/** What the batches of a run are driven with. */
export interface DriveRunOptions {
  readonly run: Omit<ResolvedRun, 'source' | 'sink' | 'client'>;
  readonly client: Client;
  readonly reconciliation: Reconciliation;
  readonly plan: Plan;
  readonly batches: readonly Batch[];
  readonly store: BatchStore;
  /** Called whenever another batch is settled. */
  readonly onSettled?: () => void;
  /**
   * Whether this process needs the outcomes of batches that others have finished; else they wait for
   * `settleAll`. @default true
   */
  readonly wantsAll?: () => boolean;
  /** Claims the output of the run, unless another process has it. @returns whether this process has it */
  readonly claimOutput?: () => Promise<boolean>;
  /** In a shared run: ends this process's work when the run is stopped. */
  readonly stop?: (error: unknown) => void;
}

/** How the drive of a run's batches ended. */
export interface DriveRunEnd {
  readonly batches: readonly DrivenBatch[];
  /** What stopped it; `undefined` when every batch is at its end. */
  readonly stoppedBy: unknown;
  /** Whether every batch is at its end. */
  readonly isWhole: boolean;
  /** Whether unfinished batches are settled as such, so that rows can be written. */
  readonly isPartial: boolean;
  /** Whether the service refused the run's form: nothing of it is worth continuing. */
  readonly isRefused: boolean;
  /** Settles all addresses. */
  settleAll(): Promise<void>;
  /**
   * Deletes what the run no longer needs from the service, in the process that ends a shared run; a run of
   * one process has done so already.
   *
   * @param confirm called before anything is deleted
   */
  deleteUnneeded(confirm: () => Promise<void>): Promise<void>;
}
