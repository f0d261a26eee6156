import type { Client } from '../../../client/client.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import type { History } from '../../history/history.js';
import type { RunEntry } from '../../stores/journal-entries.js';
import { type BatchStore, noOthers, type RunStore } from '../../stores/run-store.js';
import type { Summary } from '../../summary/summary.js';
import type { DriveRunEnd } from '../execution/run-driver.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { PlannedInput, PlanInputOptions } from '../planning/plan-input.js';
import { isAtEnd } from '../../batches/batch-state.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import { type EarlierRun, emptyRunState } from '../../stores/run-state.js';
import { makeScratch } from '../../stores/scratch.js';
import { carriedEntries } from './earlier-results.js';

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
  /** Resumes the known run, or begins one. @throws StateError `state_mismatch` where neither is allowed, nothing sent */
  open(client: Client): Promise<OpenedRun>;
  /** Asks the questions about a list that it begins with. */
  checkBeforeSending(plannedInput: PlannedInput): Promise<void>;
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

/** A list that is written with stored results and not sent. */
export interface OfflinePlan {
  readonly entry: RunEntry;
  readonly plannedInput: PlannedInput;
  /** A store without its batches; the run before is among the earlier ones. */
  readonly store: BatchStore;
  remove(): Promise<void>;
}

/**
 * Plans tonight's list while an unfinished run of another waits for the service: with that run's stored
 * results. Nothing is sent, and its state stays unchanged.
 */
export async function planOffline(
  before: StateDirectory,
  files: FileSystem,
  read: (given: Partial<PlanInputOptions>) => Promise<PlannedInput>,
): Promise<OfflinePlan> {
  const { state } = before;
  const { run: entry, plan, batches, generation } = state;
  if (!entry || !plan) throw new Error('there is no run whose results are stored');
  const scratch = await makeScratch(files, undefined);
  try {
    // Batches still being verified have no results: tonight they are not finished.
    const ended = new Map(
      [...batches].filter(([, { state: batch }]) => isAtEnd(batch) || batch.stage === 'split'),
    );
    const current: EarlierRun = { run: entry, plan, batches, generation };
    const earlier = [...state.earlier, { ...current, batches: ended }];
    const plannedInput = await read({
      scratch,
      state: { ...state, plan: undefined, earlier },
      carried: async (seed) =>
        carriedEntries({ stored: before, earlier, files, seed, retries: () => false }),
    });
    return {
      entry,
      plannedInput,
      store: {
        state: {
          ...emptyRunState,
          run: entry,
          plan: plannedInput.entry,
          earlier: [...state.earlier, current],
        },
        others: noOthers,
        record: async () => undefined,
        claim: async () => [],
        readResults: async (...kept) => before.readResults(...kept),
      },
      remove: async () => scratch.remove(),
    };
  } catch (error) {
    await scratch.remove();
    throw error;
  }
}
