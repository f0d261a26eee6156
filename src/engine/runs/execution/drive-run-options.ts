import type { Client } from '../../../client/client.js';
import type { Batch } from '../../batches/batch.js';
import type { Plan } from '../../plan/plan.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import type { RunStore, SharedRunStore } from '../../stores/run-store.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { Reconciliation } from '../resume/reconcile.js';

/** What the batches of a run are driven with. */
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
    Partial<Pick<SharedRunStore, 'record' | 'reopen' | 'hearStops' | 'announce'>> &
    Partial<Pick<StateDirectory, 'hasResults'>>;
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
