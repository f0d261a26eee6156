import { isAtEnd } from '../../batches/batch-state.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import type { RunEntry } from '../../stores/journal-entries.js';
import { type EarlierRun, emptyRunState } from '../../stores/run-state.js';
import { makeScratch } from '../../stores/scratch.js';
import type { BatchStore } from '../../stores/run-store.js';
import type { PlanInputOptions, PlannedInput } from '../planning/plan-input.js';
import { openRecall } from '../planning/recalled-results.js';
import type { ResolvedRun } from '../options/run-options.js';
import { carriedEntries } from './earlier-results.js';

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
  run: ResolvedRun,
  read: (given: Partial<PlanInputOptions>) => Promise<PlannedInput>,
): Promise<OfflinePlan> {
  const { state } = before;
  const { files } = run;
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
    const seed = Buffer.from(entry.seed, 'hex');
    const plannedInput = await read({
      scratch,
      planned: undefined,
      recalled: await openRecall({
        state: { ...state, plan: undefined, earlier },
        recalledPath: scratch.recalledPath,
        files,
        seed,
        history: run.history,
        columns: run,
        carried: async () =>
          carriedEntries({ stored: before, earlier, files, seed, retries: () => false }),
      }),
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
