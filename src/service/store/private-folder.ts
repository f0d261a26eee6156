import { lstat, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StateError } from '../../errors/family.js';
import { isSluiceError } from '../../errors/is-sluice-error.js';
import type { FileLock } from '../../system/file-lock.js';
import { makeTemporaryFolder } from '../../system/temporary-folder.js';
import { lockFolder } from './folder-lock.js';

const prefix = 'sluice-service-';
const form = /^sluice-service-[A-Za-z0-9]{6}$/;
const maxTries = 10;
/** A folder of the last minutes may belong to a service that has not locked it yet. */
const youngestMs = 600_000;

/**
 * Makes a temporary folder for a service that keeps nothing, and locks it. First it removes the folders
 * of services that were killed: they hold addresses.
 *
 * @throws ConfigurationError where none can be made; the system's errors
 */
export async function makePrivateFolder(): Promise<{
  readonly root: string;
  readonly lock: FileLock;
}> {
  await sweep();
  for (let tries = 0; tries < maxTries; tries += 1) {
    const root = await makeTemporaryFolder(prefix);
    // Between its making and its lock another process may take it for one that was left.
    const lock = await lockFolder(root, 'TMPDIR').catch(ifTaken);
    if (!lock) continue;
    if (await isOwnFolder(root)) return { root, lock };
    await lock.release();
  }
  throw new StateError(`folders in ${tmpdir()} are locked by others again and again`, {
    code: 'state_locked',
  });
}

/** Another process has locked the folder, or removed it. */
function ifTaken(error: unknown): undefined {
  const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
  if (!isGone && !isSluiceError(error, 'state_locked')) throw error;
}

/** A folder whose lock can be had is nobody's any more: the lock dies with its process. */
async function sweep(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((found) => form.test(found))) {
    const path = join(tmpdir(), name);
    if (!(await isOwnFolder(path, Date.now() - youngestMs))) continue;
    const lock = await lockFolder(path, 'TMPDIR').catch(() => undefined);
    if (!lock) continue;
    // What cannot be removed now is left to the next.
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    await lock.release();
  }
}

/** Whether a path is a folder of this user's, and no link to one. */
async function isOwnFolder(path: string, changedBeforeMs = Infinity): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  const uid = process.geteuid?.();
  return (
    stats?.isDirectory() === true &&
    (uid === undefined || stats.uid === uid) &&
    stats.mtimeMs < changedBeforeMs
  );
}
