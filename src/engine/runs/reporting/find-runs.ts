import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { OutputError } from '../../../platform/errors/errors.js';
import { SluiceError } from '../../../platform/errors/sluice-error.js';
import { aFolder, checkValue } from '../../../platform/options/check-options.js';
import { describeSystemError } from '../../../platform/files/describe-system-error.js';
import { readRunStatus } from './read-status.js';
import type { RunStatus } from '../../stores/run-status.js';

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
