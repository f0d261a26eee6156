import { rmSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, OutputError, StateError } from '../errors/errors.js';
import { isSluiceError } from '../errors/is-sluice-error.js';
import { describeSystemError, systemErrorCode } from '../text/system-errors.js';
import { type FileLock, lockFile } from './file-lock.js';
import { systemFiles } from './file-system.js';

const form = /^sluice-process-[A-Za-z0-9]{6}$/;
const maxTries = 10;
/** A recent folder may belong to a process that has not locked it yet. */
const youngestMs = 600_000;

/** A temporary folder that is removed with its process. */
export interface PrivateFolder {
  readonly path: string;
  /** Removes it with its content. Never fails. */
  readonly remove: () => Promise<void>;
}

interface ProcessFolder {
  readonly path: string;
  readonly lock: FileLock;
}

/** This process's folders by parent. A garbage-collected one is no longer locked. */
const processFolders = new Map<string, Promise<ProcessFolder>>();

/** Makes a temporary folder in one that this process locks. The first call removes those of killed processes. */
export async function makePrivateFolder(): Promise<PrivateFolder> {
  const parent = tmpdir();
  for (let tries = 0; tries < maxTries; tries += 1) {
    const made = processFolders.get(parent) ?? makeProcessFolder();
    processFolders.set(parent, made);
    try {
      const path = await mkdtemp(join((await made).path, 'of-'));
      const remove = async (): Promise<void> =>
        rm(path, { recursive: true, force: true }).catch(() => undefined);
      return { path, remove };
    } catch (error) {
      const isFirst = processFolders.get(parent) === made && processFolders.delete(parent);
      // A cleaner of temporary files may have removed it.
      if (systemErrorCode(error) !== 'ENOENT') throw error;
      if (isFirst) await (await made).lock.release();
    }
  }
  throw new OutputError(`folders in ${parent} are removed again and again by others`);
}

async function makeProcessFolder(): Promise<ProcessFolder> {
  await sweep();
  for (let tries = 0; tries < maxTries; tries += 1) {
    const path = await makeTemporaryFolder('sluice-process-');
    // Before it is locked, another process may take it for a left one.
    const lock = await lockFolder(path).catch(ifTaken);
    if (!lock) continue;
    if (!(await isPrivateFolder(path))) {
      await lock.release();
      continue;
    }
    process.once('exit', () => {
      rmSync(path, { recursive: true, force: true });
    });
    return { path, lock };
  }
  throw new StateError(`folders in ${tmpdir()} are locked by others again and again`, {
    code: 'state_locked',
  });
}

async function lockFolder(folder: string): Promise<FileLock> {
  const path = join(folder, 'lock');
  return lockFile(systemFiles, { name: folder, path, option: 'TMPDIR', canWait: false });
}

/** Another process has locked or removed the folder. */
function ifTaken(error: unknown): undefined {
  const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
  if (!isGone && !isSluiceError(error, 'state_locked')) throw error;
}

/** A folder whose lock is free has lost its process. */
async function sweep(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((found) => form.test(found))) {
    const path = join(tmpdir(), name);
    if (!(await isPrivateFolder(path, Date.now() - youngestMs))) continue;
    const lock = await lockFolder(path).catch(() => undefined);
    if (!lock) continue;
    // What cannot be removed now is left to the next process.
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    await lock.release();
  }
}

async function isPrivateFolder(path: string, changedBeforeMs = Infinity): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  const uid = process.geteuid?.();
  return (
    stats?.isDirectory() === true &&
    (uid === undefined || stats.uid === uid) &&
    stats.mtimeMs < changedBeforeMs
  );
}

export async function makeTemporaryFolder(prefix: string): Promise<string> {
  const parent = tmpdir();
  return mkdtemp(join(parent, prefix)).catch((cause: unknown) => {
    throw new ConfigurationError(
      `cannot write to the folder for temporary files, ${parent}: ${describeSystemError(cause)}; have TMPDIR name a folder that can be written`,
      { cause, file: parent },
    );
  });
}
