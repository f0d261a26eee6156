import { ConfigurationError } from '../../../platform/errors/errors.js';
import { checkValue } from '../../../platform/options/check-options.js';
import { defaultStateDir } from '../../../lists/list-place.js';
import { systemFiles } from '../../../platform/files/file-system.js';
import { aStore } from '../options/option-shapes.js';
import { statusOf, type RunStatus } from '../../stores/run-status.js';
import type { SharedStore } from '../../stores/run-store.js';
import { sharedStatusOf, type SharedRunStatus } from '../../stores/shared/shared-status.js';
import { readKnownRun } from '../../stores/directory/state-directory.js';

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
    const known = await readKnownRun(systemFiles, path);
    if (known) return statusOf(known, path);
  }
  throw new ConfigurationError(
    `there is no unfinished run in ${stateDir} or ${ofOutput}: it has finished, or never began`,
  );
}
