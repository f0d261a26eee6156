import type { Client } from '../../../client/client.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import type { History } from '../../history/history.js';
import type { RunEntry } from '../../stores/journal-entries.js';
import type { RunStore } from '../../stores/run-store.js';
import type { Summary } from '../../summary/summary.js';
import type { DriveRunEnd } from '../execution/run-driver.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { PlannedInput } from '../planning/plan-input.js';
import type { PlannedBeside } from './plan-beside.js';

/** A run that is begun or gone on with, and its plan. */
export interface OpenedRun {
  readonly entry: RunEntry;
  readonly plannedInput: PlannedInput;
}

/** A run where it is kept, as one process has it open. */
export interface RunLocation {
  /** The run's options, as what is kept there makes them. */
  readonly run: ResolvedRun;
  readonly store: RunStore;
  connect(): Promise<Client>;
  /** @returns what the run reported, when the same is asked for again */
  finishedSummary(): Promise<Summary | undefined>;
  /**
   * Goes on with the run that is known, or begins one.
   *
   * @throws StateError `state_mismatch` before anything is sent, when that is not to be done
   */
  open(client: Client): Promise<OpenedRun>;
  /**
   * Plans another list than that of the unfinished run, where the service cannot be asked about that one: its
   * output may be written with what is known. Absent where another list is another run.
   *
   * @returns `undefined` where no run is unfinished, or the list is its own
   */
  planBeside?(): Promise<PlannedBeside | undefined>;
  /** The error with which the caller ends, where the batches were not driven to their end. */
  reasonOf(end: DriveRunEnd): unknown;
  /** Every result of the run is safe: a history gets those that it has not. */
  keepResults(history: History, batches: readonly DrivenBatch[]): Promise<void>;
  /** The end of the run was reported to the caller. @param isWorthKeeping whether it may be asked for again */
  end(isWorthKeeping: boolean): Promise<void>;
  /** Lets go of it. @param isRemovable whether nothing in it is needed any more */
  leave(isRemovable: boolean): Promise<void>;
}
