import { constants } from 'node:fs';
import * as fileSystem from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { ConfigurationError, OutputError, placeOf } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { refuseWriting } from '../../../platform/files/disk-errors.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import { lockFile } from '../../../platform/files/file-lock.js';
import {
  systemFiles,
  type FilePermissions,
  besidePath,
} from '../../../platform/files/file-system.js';
import type { LockWait } from '../../rows/sink.js';

/** The file system calls of an output file: a parameter, so that each can fail in tests. */
export type OutputFiles = Pick<
  typeof fileSystem,
  'access' | 'open' | 'readlink' | 'realpath' | 'rename' | 'rm' | 'stat'
>;

export interface OutputTarget {
  readonly path: string;
  /** With all links followed. */
  readonly realPath: string;
  /** A `file` appears by rename; a `direct` one (a pipe, a device) is written directly. */
  readonly kind: 'file' | 'direct';
  readonly existing:
    | { readonly mode: number; readonly uid: number; readonly gid: number }
    | undefined;
}

/**
 * Finds out what an output path leads to, and says early what would fail late.
 *
 * @throws ConfigurationError `invalid_option` for a folder, or when its folder is missing; OutputError
 *   when it may not be written
 */
export async function checkOutputPath(
  path: string,
  files: OutputFiles = fileSystem,
): Promise<OutputTarget> {
  const fail = refuseWriting(path);
  const failToFind = (cause: unknown): never => {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(cause) ?? '');
    if (!isMissing) return fail(cause);
    throw new ConfigurationError(`cannot write ${path}: its folder does not exist`, {
      cause,
      file: path,
      fault: 'missing',
    });
  };
  const { realPath, isDescriptor } = await followLinks(path, files).catch(failToFind);
  const stats = await files
    .stat(realPath)
    .catch((error: unknown) =>
      systemErrorCode(error) === 'ENOENT' ? undefined : failToFind(error),
    );
  if (stats?.isDirectory() === true || (stats === undefined && path.endsWith(sep))) {
    throw new ConfigurationError(`cannot write ${path}: it is a folder`, {
      file: path,
      fault: 'folder',
    });
  }
  if (stats !== undefined || isDescriptor) await files.access(realPath, constants.W_OK).catch(fail);
  if (isDescriptor || stats?.isFile() === false) {
    return { path, realPath, kind: 'direct', existing: undefined };
  }
  await files.access(dirname(realPath), constants.W_OK | constants.X_OK).catch(fail);
  const existing = stats && { mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid };
  return { path, realPath, kind: 'file', existing };
}

/** Outputs are checked before anything is sent: a folder missing by now has gone meanwhile. */
export function refuseLate(error: unknown): never {
  throw error instanceof ConfigurationError
    ? new OutputError(error.message, { ...placeOf(error), cause: error })
    : error;
}

/** Whether two paths lead to the same regular file, by whatever links, or would once it exists. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => fileSystem.stat(path, { bigint: true }).catch(() => undefined)),
  );
  if (!first && !second) {
    // Where they would be created; a missing folder is reported elsewhere.
    const [place, otherPlace] = await Promise.all(
      [one, other].map((path) => followLinks(path, fileSystem).catch(() => undefined)),
    );
    return place !== undefined && place.realPath === otherPlace?.realPath;
  }
  // Input and output may be the same terminal.
  if (first?.isFile() !== true || second?.isFile() !== true) return false;
  return first.dev === second.dev && first.ino === second.ino;
}

/** Folders of a process's open files, which have no names of their own. */
const descriptorFolder = /^\/(?:proc\/\d+(?:\/task\/\d+)?|dev)\/fd$/;

/** Unlike `realpath`, this also follows a link to a missing file. */
async function followLinks(
  path: string,
  files: OutputFiles,
): Promise<{ realPath: string; isDescriptor: boolean }> {
  let current = resolve(path);
  const seen = new Set<string>();
  for (;;) {
    const folder = await files.realpath(dirname(current));
    const realPath = join(folder, basename(current));
    if (descriptorFolder.test(folder)) return { realPath, isDescriptor: true };
    const target = await files.readlink(realPath).catch(() => undefined);
    if (target === undefined) return { realPath, isDescriptor: false };
    if (seen.has(realPath)) {
      throw Object.assign(new Error('links lead in a circle'), { code: 'ELOOP' });
    }
    seen.add(realPath);
    current = resolve(folder, target);
  }
}

/** The permissions of a file; if unknown, those of a secret one. */
export async function permissionsOf(path: string): Promise<FilePermissions> {
  const { mode, gid } = await fileSystem.stat(path).catch(() => ({ mode: 0o600, gid: -1 }));
  return { mode: mode & 0o777, gid };
}

/** Whether a file is readable to somebody whom another excludes. */
export function isMoreOpen(file: FilePermissions, than: FilePermissions): boolean {
  return (file.mode & 0o666 & ~mostOpen(than, file.gid)) !== 0;
}

/** Most permission bits with which a file of a group is no more open than another. */
export function mostOpen(than: FilePermissions | undefined, gid: number): number {
  if (!than) return 0o666;
  const [group, other] = [(than.mode >> 3) & 6, than.mode & 6];
  if (gid === than.gid) return 0o600 | (group << 3) | other;
  // A member of one's group may be anybody to the other.
  return 0o600 | ((group & other) << 3) | (group & other);
}

/** The same for a folder, which whoever may read the file can search. */
export function mostOpenFolder(than: FilePermissions | undefined, gid: number): number {
  const mode = mostOpen(than, gid);
  return mode | ((mode & 0o444) >> 2);
}

/**
 * Which files of a run keep permissions under which others may read what they may not in another file: one
 * that is there already keeps its own.
 */
export async function moreOpenFiles(
  paths: readonly string[],
  than: FilePermissions,
): Promise<readonly string[]> {
  const open: string[] = [];
  for (const path of paths) {
    // An invalid path is reported by its own check.
    const target = await checkOutputPath(path).catch(() => undefined);
    if (target?.existing && isMoreOpen(target.existing, than)) open.push(path);
  }
  return open;
}

/** Locks an output against other runs, by a file beside it. @param name for messages @param realPath without links */
export async function holdOutput(
  name: string,
  realPath: string,
  patience?: LockWait,
): Promise<() => Promise<void>> {
  const path = besidePath(realPath, 'lock');
  const thing = { name, path, option: 'sink', does: 'is writing', canWait: patience !== undefined };
  const lock = await lockFile(systemFiles, thing, patience).catch(async (error: unknown) => {
    patience?.signal?.throwIfAborted();
    if (isSluiceError(error, 'state_locked')) throw error;
    // Without locks, a concurrent run is noticed at the end.
    await systemFiles.rm(path, { force: true }).catch(() => undefined);
    return undefined;
  });
  return async () => {
    if (!lock) return;
    const remove = async (): Promise<void> => systemFiles.rm(path, { force: true });
    // A second try covers a moment without descriptors; a leftover is empty, and the next run's.
    await remove()
      .catch(remove)
      .catch(() => undefined);
    await lock.release();
  };
}
