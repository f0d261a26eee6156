import { access, constants } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError, OutputError, StateError } from '../../../platform/errors/errors.js';
import { describeSystemError, systemErrorCode } from '../../../platform/text/system-errors.js';
import { type FileLock, lockFile, type LockWait } from '../../../platform/files/file-lock.js';
import {
  type FileSystem,
  syncDirectory,
  systemFiles,
  besidePath,
  move,
} from '../../../platform/files/file-system.js';
import type { StateLocation } from '../journal-entries.js';
import { optionName } from '../../../platform/text/sentence.js';

/** A run's folders: each run that replaces another has its own. */
export const runFolder = /^(?:batches|results)(?:\.\d+)?$/;

/** A folder's name, by the number of runs in the journal. */
export function folderOf(name: 'batches' | 'results', generation: number): string {
  return generation > 1 ? `${name}.${generation}` : name;
}

export function foldersOf(generation: number): readonly string[] {
  return [folderOf('batches', generation), folderOf('results', generation)];
}

/**
 * Makes the folder of a run, and those above it: Node's own way never ends where a folder that is there takes
 * none, as in /proc. Errors are the system's.
 *
 * @returns the uppermost new folder, where any is new
 */
export async function makeRunFolder(files: FileSystem, path: string): Promise<string | undefined> {
  try {
    await files.mkdir(path, { mode: 0o700 });
    return path;
  } catch (error) {
    const find = async (at: string): Promise<{ isDirectory(): boolean } | undefined> =>
      files.stat(at).catch(() => undefined);
    const code = systemErrorCode(error);
    if (code === 'EEXIST' && (await find(path))?.isDirectory() === true) return undefined;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path || (await find(parent))) throw error;
    const above = await makeRunFolder(files, parent);
    const made = await makeRunFolder(files, path);
    return above ?? made;
  }
}

/** Errors are the system's. */
export async function makeFolders(
  files: FileSystem,
  path: string,
  generation: number,
): Promise<void> {
  for (const folder of foldersOf(generation)) {
    await files.mkdir(join(path, folder), { recursive: true, mode: 0o700 });
  }
}

/** Names that may be in a state directory: a kill leaves `input.again` and unfinished files. */
const stateFileName =
  /^(?:lock|journal|dropped|(?:batches|results)(?:\.\d+)?|tickets|partitions|recalled|input(?:\.again|\.\d+)?(?:\.part(?:ial)?)?|service|\.sluice-[0-9a-f]+\.partial)$/;

/** The directory is removed with its content when the run ends: a user's own folder must not be. */
export function refuseForeign(path: string, names: readonly string[]): void {
  const foreign = names.includes('lock')
    ? names.find((name) => !stateFileName.test(name))
    : names[0];
  if (foreign === undefined) return;
  throw new ConfigurationError(
    `${path} cannot be a state directory: it holds ${foreign}, which no run has put there; name a folder of its own`,
    { option: 'stateDir', file: path, fault: 'other_content' },
  );
}

export function refuseFile(path: string, error: unknown): void {
  const code = systemErrorCode(error);
  if (code !== 'EEXIST' && code !== 'ENOTDIR') return;
  const what = code === 'EEXIST' ? 'it is a file' : 'a part of its path is a file';
  throw new ConfigurationError(
    `${path} cannot be a state directory: ${what}; name a folder of its own`,
    { cause: error, option: 'stateDir', file: path },
  );
}

const recalledName = 'recalled';

export function recalledPathIn(path: string): string {
  return join(path, recalledName);
}

/** The journal of a run that is being dropped. */
export const droppedName = 'dropped';

export function journalPath(path: string): string {
  return join(path, 'journal');
}

/**
 * Drops a run. Its journal has another name as long as anything else is left of it: without one or the other,
 * what is left is of a run that lost its journal.
 */
export async function forget(files: FileSystem, path: string): Promise<void> {
  const dropped = join(path, droppedName);
  await move(files, { from: journalPath(path), to: dropped }).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
  });
  await clear(files, path);
  await files.rm(dropped, { force: true });
}

/** @throws StateError `state_damaged` for batches or results of a run whose journal is gone: they may be paid */
export async function refuseRemains(files: FileSystem, path: string): Promise<void> {
  for (const name of await files.readdir(path)) {
    if (!runFolder.test(name) || (await files.readdir(join(path, name))).length === 0) continue;
    throw new StateError(
      `the state directory ${path} holds ${name} of a run whose journal is missing or empty: put back ${journalPath(path)}, or add ${optionName('fresh')} to start over, which may pay again for what that run has paid for`,
      { code: 'state_damaged', option: 'stateDir', file: path, fault: 'missing' },
    );
  }
}

/** The journal is gone: a run must not fail for what is left, or it would be paid again. */
export async function removeEmpty(files: FileSystem, path: string): Promise<void> {
  try {
    // Whoever is killed here pays for all again, but for a run with a history: without one nothing is waited for.
    if ((await files.readdir(path)).includes(recalledName)) {
      // The journal goes first: should a power cut restore it, the files that it names are missing.
      await syncDirectory(files, path);
      await files.rm(recalledPathIn(path), { force: true });
      // The lock goes last: it marks what is left as Sluice's.
      await syncDirectory(files, path);
    }
    await files.rm(path, { recursive: true, force: true });
  } catch {
    // The next run takes the directory as it is.
  }
}

/** Removes everything but the lock, the journal, and what its plan is compared with. */
export async function clear(files: FileSystem, path: string): Promise<void> {
  for (const name of await files.readdir(path)) {
    if (name === 'journal' || name === droppedName || name === 'lock' || name === recalledName)
      continue;
    await files.rm(join(path, name), { recursive: true, force: true });
  }
  // The journal goes later: a power cut that restored the rest alone would leave a run without one.
  await syncDirectory(files, path);
}

/**
 * Syncs the directory's own name, and those of new folders above it: a run whose journal is lost would be
 * paid again.
 *
 * @param made the uppermost new folder
 */
export async function syncName(
  files: FileSystem,
  path: string,
  made: string | undefined,
): Promise<void> {
  const top = made === undefined ? resolve(path) : resolve(made);
  // The lock comes first: it marks the directory as Sluice's.
  await syncDirectory(files, path);
  for (let at = resolve(path); at.length >= top.length; at = dirname(at)) {
    await syncDirectory(files, dirname(at));
    if (at === dirname(at)) return;
  }
}

/** Tells a journal from its copies: inode, and time of birth where there is one. @returns `undefined` with neither */
export async function readStateLocation(
  files: FileSystem,
  stateDir: string,
): Promise<StateLocation | undefined> {
  try {
    const { ino, birthtimeMs, ctimeMs } = await files.stat(journalPath(stateDir));
    // Without a time of birth, some systems give that of the latest change.
    return { ino, born: birthtimeMs > 0 && birthtimeMs < ctimeMs ? birthtimeMs : null };
  } catch {
    return undefined;
  }
}

/** Whether two locations are surely different. */
export function isElsewhere(
  known: StateLocation | undefined,
  found: StateLocation | undefined,
): boolean {
  if (!known || !found) return false;
  if (known.ino !== found.ino) return true;
  return known.born !== null && found.born !== null && known.born !== found.born;
}

export async function lockDirectory(
  files: FileSystem,
  directory: string,
  patience?: LockWait,
): Promise<FileLock> {
  return lockFile(
    files,
    {
      name: `the state directory ${directory}`,
      path: join(directory, 'lock'),
      option: 'stateDir',
      remake: async () => {
        await makeRunFolder(files, directory);
      },
    },
    patience,
  );
}

/** Whether another process is seen at work there; nothing is locked. */
export async function isSeenAtWork(directory: string): Promise<boolean> {
  return systemFiles.isListedLocked(join(directory, 'lock'));
}

/**
 * Whether a run could keep its state in a folder: it can be written, and has locks. Leaves nothing there.
 *
 * @throws OutputError where it cannot be written; ConfigurationError where its file system has no locks
 */
export async function checkRunFolder(folder: string): Promise<void> {
  await access(folder, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
    throw new OutputError(`cannot write to ${folder}: ${describeSystemError(cause)}`, { cause });
  });
  // Named like an unfinished file: if a kill leaves it, a run removes it.
  const path = besidePath(join(folder, 'doctor'), 'partial');
  const lock = await lockFile(systemFiles, {
    name: folder,
    path,
    option: 'stateDir',
    canWait: false,
  });
  try {
    await systemFiles.rm(path, { force: true });
  } finally {
    await lock.release();
  }
}
