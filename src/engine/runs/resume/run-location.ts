import type { Client } from '../../../client/client.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import type { History } from '../../history/history.js';
import type { RunEntry } from '../../stores/journal-entries.js';
import type { RunStore } from '../../stores/run-store.js';
import type { Summary } from '../../summary/summary.js';
import type { DriveRunEnd } from '../execution/drive-run-options.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { PlannedInput } from '../planning/plan-input.js';
import type { OfflinePlan } from './plan-offline.js';

/** A run that was begun or resumed, and its plan. */
export interface OpenedRun {
  readonly entry: RunEntry;
  readonly plannedInput: PlannedInput;
}

/** A run's directory or store, as one process has it open. */
export interface RunLocation {
  /** The run's options, completed from what is stored. */
  readonly run: ResolvedRun;
  readonly store: RunStore;
  connect(): Promise<Client>;
  /** @returns the summary of a finished run, when the same is asked for again */
  finishedSummary(): Promise<Summary | undefined>;
  /**
   * Resumes the known run, or begins one.
   *
   * @throws StateError `state_mismatch` before anything is sent, when neither is allowed
   */
  open(client: Client): Promise<OpenedRun>;
  /**
   * Plans a list other than the unfinished run's while the service cannot be asked about that run: the output
   * may be written with known results. Absent where another list is another run.
   *
   * @returns `undefined` where no run is unfinished, or the list is the same
   */
  planOffline?(): Promise<OfflinePlan | undefined>;
  /** The caller's error, where the batches were not finished. */
  reasonOf(end: DriveRunEnd): unknown;
  /** Every result of the run is safe: a history gets those that it lacks. */
  keepResults(history: History, batches: readonly DrivenBatch[]): Promise<void>;
  /** The end of the run was reported to the caller. @param isWorthKeeping whether it may be asked for again */
  end(isWorthKeeping: boolean): Promise<void>;
  /** Releases it. @param isRemovable whether nothing in it is needed any more */
  leave(isRemovable: boolean): Promise<void>;
}
