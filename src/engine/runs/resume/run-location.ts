import { join } from 'node:path';
import { isOwed } from '../../batches/batch-state.js';
import type { Client } from '../../../client/client.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { keepBatches, keepCarried } from './earlier-results.js';
import { describeStart } from '../reporting/describe-status.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import type { DriveRunEnd } from '../execution/driver-options.js';
import type { History } from '../../history/history.js';
import type { RunState } from '../../stores/run-state.js';
import { RunOpening, type Opening } from './open-run.js';
import type { ResolvedRun } from '../options/run-options.js';
import { makeScratch } from '../../stores/scratch.js';
import type { RunStore, SharedStore } from '../../stores/run-store.js';
import { shareRate } from '../../stores/shared/leased-rate.js';
import { SharedOpening } from './join-shared-run.js';
import type { RowFigures } from '../../stores/shared/shared-status.js';
import { StateDirectory } from '../../stores/directory/state-directory.js';
import { counted } from '../../../platform/text/shown-numbers.js';
import { optionName } from '../../../platform/text/option-name.js';

/** Where a run is kept, as one process has it open. */
export interface RunLocation {
  /** The run's options, as what is kept there makes them. */
  readonly run: ResolvedRun;
  readonly store: RunStore;
  readonly opening: Opening;
  connect(): Promise<Client>;
  /** The error with which the caller ends, where the batches were not driven to their end. */
  reasonOf(end: DriveRunEnd): unknown;
  /** Every result of the run is safe: a history gets those that it has not. @throws OutputError */
  keepResults(history: History, batches: readonly DrivenBatch[]): Promise<void>;
  /** The caller was told of the end of the run. @param isWorthKeeping whether it may be asked for again */
  end(isWorthKeeping: boolean): Promise<void>;
  /** Lets go of it. @param isRemovable whether nothing in it is needed any more */
  leave(isRemovable: boolean): Promise<void>;
}

/** A run that this process has to itself. @throws as `StateDirectory.open` does; the signal's reason */
export async function locateInDirectory(given: ResolvedRun, path: string): Promise<RunLocation> {
  const { client, files, signal, fresh = false } = given;
  const opened = StateDirectory.open(files, path, { ...given, fresh });
  const store = await opened.catch((error: unknown) => {
    // The reason of an abort passes untouched.
    signal.throwIfAborted();
    throw error;
  });
  const run = withOwed(given, store.state);
  return {
    run,
    store,
    opening: new RunOpening(run, store),
    connect: async () => (typeof client === 'function' ? client(store.servicePath) : client),
    reasonOf: ({ stoppedBy }) => stoppedBy,
    keepResults: async (history) => keepCarried({ store, files }, history),
    async end(isWorthKeeping) {
      if (isWorthKeeping) await store.record({ entry: 'ended' });
    },
    async leave(isRemovable) {
      if (!isRemovable) return store.close();
      await beforeRemoval(run);
      try {
        await store.clear();
      } catch (error) {
        await store.close();
        throw error;
      }
      // A run that has sent nothing is gone before anybody says what is kept of it.
      if (run.lastAct && store.state.finished) run.lastAct(async () => store.remove());
      else await store.remove();
    },
  };
}

/** What was paid for is safe by now: a callback that fails ends nothing, and is a warning. */
async function beforeRemoval(run: ResolvedRun): Promise<void> {
  try {
    await run.beforeRemoval?.();
  } catch (error) {
    run.onProgress?.({
      stage: 'notice',
      isWarning: true,
      message: `the step before the removal of the state failed: ${error instanceof Error ? error.message : String(error)}`,
    });
  }
}

/**
 * A run over whose results some are owed asks for them before anything else, whatever list comes: they are
 * paid for. What has failed otherwise is sent again, as by any run that follows.
 */
function withOwed(run: ResolvedRun, state: RunState): ResolvedRun {
  const owed = [...state.batches.values()].filter((entry) => isOwed(entry.state)).length;
  if (!state.hasEnded || owed === 0 || run.retryFailed === true || !state.run) return run;
  run.onProgress?.({
    stage: 'notice',
    isWarning: true,
    message: `${counted(owed, 'batch')} of the run of ${describeStart(state.run)} ${owed === 1 ? 'is' : 'are'} paid for, and the results could not be read: they are asked for again, which is free, and used`,
  });
  return { ...run, retryFailed: true, onChange: run.onChange ?? 'carry' };
}

/** A run that many processes work on. @param parent of this one's own folder @throws as `SharedStore.open` does */
export async function locateInStore(
  run: ResolvedRun,
  {
    store: shared,
    parent,
    rows,
  }: {
    readonly store: SharedStore;
    readonly parent: string | undefined;
    readonly rows: RowFigures;
  },
): Promise<RunLocation> {
  const { files, signal, clock } = run;
  const scratch = await makeScratch(files, parent);
  const opened = shared.open({ signal, rows, clock });
  const store = await opened.catch(async (error: unknown) => {
    await scratch.remove();
    throw error;
  });
  let leavePace: (() => void) | undefined;
  return {
    run,
    store,
    opening: new SharedOpening({ run, name: shared.name, store, scratch }),
    async connect() {
      const { client: given } = run;
      const client =
        typeof given === 'function' ? await given(join(scratch.path, 'service')) : given;
      leavePace = await shareRate(client, store);
      return client;
    },
    reasonOf: (end) => withName(end, shared.name),
    keepResults: async (history, batches) => keepBatches(store, batches, history),
    async end(isWorthKeeping) {
      if (!isWorthKeeping) await store.clear();
    },
    async leave() {
      leavePace?.();
      await store.close();
      await scratch.remove();
    },
  };
}

/** What the service refuses in its form is not worth going on with, and its name is taken. */
function withName({ stoppedBy, isRefused }: DriveRunEnd, name: string): unknown {
  if (!isRefused || !(stoppedBy instanceof ConfigurationError)) return stoppedBy;
  return new ConfigurationError(
    `${stoppedBy.message}. ${name} keeps its options: to change them, abandon it first (sluice abandon, or abandonRun()), or give another name (${optionName('run')})`,
    { code: 'batch_refused', cause: stoppedBy },
  );
}
