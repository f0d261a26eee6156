import { constants } from 'node:fs';
import { access, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { ConfigurationError, OutputError } from '../errors/family.js';
import { describeSystemError, systemErrorCode } from './describe-system-error.js';

/** What a path given for an output leads to. */
export interface OutputTarget {
  /** As it was given. */
  readonly path: string;
  /** With all links followed. */
  readonly realPath: string;
  /** A `file` appears by rename; what is `direct` (a pipe, a device) is written as it stands. */
  readonly kind: 'file' | 'direct';
  /** Mode and owner of the file that stands there now, if any. */
  readonly existing:
    { readonly mode: number; readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Finds out what an output path leads to, and says early what would fail late.
 *
 * @throws ConfigurationError `invalid_option` for a folder, or when its folder is missing; OutputError
 *   when it may not be written
 */
export async function checkOutputPath(path: string): Promise<OutputTarget> {
  const fail = (cause: unknown): never => {
    throw new OutputError(`cannot write ${path}: ${describeSystemError(cause)}`, { cause });
  };
  const failToFind = (cause: unknown): never => {
    const isMissing = ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(cause) ?? '');
    if (!isMissing) return fail(cause);
    throw new ConfigurationError(`cannot write ${path}: its folder does not exist`, { cause });
  };
  const { realPath, isDescriptor } = await followLinks(path).catch(failToFind);
  const stats = await stat(realPath).catch((error: unknown) =>
    systemErrorCode(error) === 'ENOENT' ? undefined : failToFind(error),
  );
  if (stats?.isDirectory() === true || (stats === undefined && path.endsWith(sep))) {
    throw new ConfigurationError(`cannot write ${path}: it is a folder`);
  }
  if (stats !== undefined || isDescriptor) await access(realPath, constants.W_OK).catch(fail);
  if (isDescriptor || stats?.isFile() === false) {
    return { path, realPath, kind: 'direct', existing: undefined };
  }
  await access(dirname(realPath), constants.W_OK | constants.X_OK).catch(fail);
  const existing = stats && { mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid };
  return { path, realPath, kind: 'file', existing };
}

/** Whether an output at a path appears by rename, and so is not seen before it is finished. */
export async function isHeldBack(path: string): Promise<boolean> {
  return (await checkOutputPath(path)).kind === 'file';
}

/** Whether two paths lead to one and the same regular file, by whatever links. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => stat(path, { bigint: true }).catch(() => undefined)),
  );
  // Input and output may well be the same terminal.
  if (first?.isFile() !== true || second?.isFile() !== true) return false;
  return first.dev === second.dev && first.ino === second.ino;
}

/** Folders of the open files of a process: a file that is written there has no name of its own. */
const descriptorFolder = /^\/(?:proc\/\d+(?:\/task\/\d+)?|dev)\/fd$/;

/** Unlike `realpath`, this also follows a link to a file that is still to be made. */
async function followLinks(path: string): Promise<{ realPath: string; isDescriptor: boolean }> {
  let current = resolve(path);
  const seen = new Set<string>();
  for (;;) {
    const folder = await realpath(dirname(current));
    const realPath = join(folder, basename(current));
    if (descriptorFolder.test(folder)) return { realPath, isDescriptor: true };
    const target = await readlink(realPath).catch(() => undefined);
    if (target === undefined) return { realPath, isDescriptor: false };
    if (seen.has(realPath)) {
      throw Object.assign(new Error('links lead in a circle'), { code: 'ELOOP' });
    }
    seen.add(realPath);
    current = resolve(folder, target);
  }
}
