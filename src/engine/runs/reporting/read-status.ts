import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultStateDir } from '../../../lists/location.js';
import { ConfigurationError, OutputError } from '../../../platform/errors/errors.js';
import { SluiceError } from '../../../platform/errors/sluice-error.js';
import { describeSystemError } from '../../../platform/files/disk-errors.js';
import { systemFiles } from '../../../platform/files/file-system.js';
import { checkValue } from '../../../platform/check-options.js';
import { aFolder } from '../../../platform/option-kinds.js';
import { readRunState } from '../../stores/directory/state-directory.js';
import { type RunStatus, statusOf } from '../../stores/run-status.js';
import type { SharedStore } from '../../stores/run-store.js';
import { type SharedRunStatus, sharedStatusOf } from '../../stores/shared/shared-status.js';
import { aStore } from '../options/option-shapes.js';

/**
 * Reads what a state directory says, or a store that processes share, also while a run works in it. In
 * place of a state directory, the output may be named whose run keeps its state beside it.
 *
 * @throws OutputError, StateError; ConfigurationError when there is no run; DeadlineError
 *
 * @example
 * ```ts
 * const status = await readRunStatus('verified.csv.sluice').catch(() => undefined);
 * console.log(status ? describeStatus(status).soFar : 'no run is unfinished'); // no run is unfinished
 * ```
 */
export async function readRunStatus(stateDir: string): Promise<RunStatus>;
export async function readRunStatus(store: SharedStore): Promise<SharedRunStatus>;
export async function readRunStatus(place: string | SharedStore): Promise<RunStatus>;
export async function readRunStatus(place: string | SharedStore): Promise<RunStatus> {
  if (typeof place === 'string') return readDirectory(place);
  checkValue('place', place, {
    ...aStore,
    what: 'a state directory, or a store that processes share',
  });
  const stored = await place.look();
  if (!stored) throw new ConfigurationError(`there is no ${place.name}`);
  return sharedStatusOf(stored, place.name);
}

async function readDirectory(stateDir: string): Promise<RunStatus> {
  const ofOutput = defaultStateDir(stateDir);
  for (const path of [stateDir, ofOutput]) {
    const state = await readRunState(systemFiles, path);
    if (state) return statusOf(state, path);
  }
  throw new ConfigurationError(
    `there is no unfinished run in ${stateDir} or ${ofOutput}: it has finished, or never began`,
  );
}

/** A state directory, and what it says of its run, or why it says nothing. */
export type FoundRun =
  | { readonly stateDir: string; readonly status: RunStatus }
  | {
      readonly stateDir: string;
      readonly error: SluiceError;
    };

/**
 * Finds the runs whose state directories are in a folder: those that are unfinished, and those that ended
 * with rows to be sent again.
 *
 * @throws OutputError when the folder cannot be read
 *
 * @example
 * ```ts
 * for (const found of await findRuns('.')) {
 *   console.log(found.stateDir, 'status' in found ? found.status.startedAt : found.error.message);
 * }
 * ```
 */
export async function findRuns(folder: string): Promise<readonly FoundRun[]> {
  checkValue('folder', folder, aFolder);
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new OutputError(`cannot read ${folder}: ${describeSystemError(cause)}`, { cause });
  });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const found: FoundRun[] = [];
  for (const name of names.toSorted()) {
    const stateDir = folder === '.' ? name : join(folder, name);
    if (!(await hasJournal(stateDir))) continue;
    try {
      found.push({ stateDir, status: await readRunStatus(stateDir) });
    } catch (error) {
      // Other programs keep journals too.
      if (error instanceof SluiceError && name.endsWith('.sluice')) found.push({ stateDir, error });
    }
  }
  return found;
}

async function hasJournal(stateDir: string): Promise<boolean> {
  return access(join(stateDir, 'journal')).then(
    () => true,
    () => false,
  );
}
