import type { Batch } from '../../batches/batch.js';
import type { Plan } from '../../plan/plan.js';
import type { Client } from '../../../client/client.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { RunStore, SharedRunStore } from '../../stores/run-store.js';
import type { Reconciliation } from '../resume/reconcile.js';

export interface DriveRunOptions {
  readonly run: Omit<ResolvedRun, 'source' | 'sink' | 'client'>;
  readonly client: Client;
  readonly reconciliation: Reconciliation;
  readonly plan: Plan;
  readonly batches: readonly Batch[];
  readonly store: Pick<
    RunStore,
    'state' | 'isShared' | 'claim' | 'waitForUpdates' | 'takeUpdates' | 'readResults'
  > &
    Partial<Pick<SharedRunStore, 'record' | 'reopen' | 'hearStops' | 'announce'>>;
  /** Called whenever the addresses of another batch have got their outcomes. */
  readonly onSettled?: () => void;
  /**
   * Whether this process wants the outcomes of what others have brought to its end; else they wait for
   * `settleAll`. @default it does
   */
  readonly wantsAll?: () => boolean;
  /** Claims the last step of the run, where no process has it. @returns whether this process has it */
  readonly join?: () => Promise<boolean>;
  /** Where others work on the run, too: ends what this process does when they stop it. */
  readonly stop?: (error: unknown) => void;
}

/** How the driving of a run's batches ended. */
export interface DriveRunEnd {
  readonly batches: readonly DrivenBatch[];
  /** What stopped it; `undefined` when every batch is at its end. */
  readonly stoppedBy: unknown;
  /** Whether every batch is at its end. */
  readonly isWhole: boolean;
  /** Whether what is not finished is settled as such, so that rows can be written. */
  readonly isPartial: boolean;
  /** Whether the service refused the run in its form: nothing of it is worth going on with. */
  readonly isRefused: boolean;
  /** Gives all addresses their outcomes. */
  settleAll(): Promise<void>;
  /**
   * Deletes what the run needs no more from the service: only in the process that ends a run that others work on,
   * too; one that a process has to itself is tidy.
   *
   * @param confirm asked before anything is deleted
   */
  tidy(confirm: () => Promise<void>): Promise<void>;
}
