import { stat } from 'node:fs/promises';
import type { FilePermissions } from '../../../platform/files/file-system.js';
import { checkOutputPath } from './output-path.js';

/** The permissions of a file; those of a secret one where they cannot be had. */
export async function permissionsOf(path: string): Promise<FilePermissions> {
  const { mode, gid } = await stat(path).catch(() => ({ mode: 0o600, gid: -1 }));
  return { mode: mode & 0o777, gid };
}

/** Whether a file is open to somebody whom another is closed to. */
export function isMoreOpen(file: FilePermissions, than: FilePermissions): boolean {
  return (file.mode & 0o666 & ~mostOpen(than, file.gid)) !== 0;
}

/** Most permission bits that a file of a group may have to be no more open than another file. */
export function mostOpen(than: FilePermissions | undefined, gid: number): number {
  if (!than) return 0o666;
  const [group, other] = [(than.mode >> 3) & 6, than.mode & 6];
  if (gid === than.gid) return 0o600 | (group << 3) | other;
  // Anyone who is in the group of one of them may be anybody to the other.
  return 0o600 | ((group & other) << 3) | (group & other);
}

/** The same of a folder, which is searched by anyone who may read the file. */
export function mostOpenFolder(than: FilePermissions | undefined, gid: number): number {
  const mode = mostOpen(than, gid);
  return mode | ((mode & 0o444) >> 2);
}

/**
 * Which files of a run keep permissions under which others may read what they may not in another file: one
 * that is there already keeps its own.
 *
 * @example
 * ```ts
 * const permissions = await fileSource('contacts.csv').permissions?.();
 * if (permissions) console.log(await moreOpenFiles(['verified.csv'], permissions)); // []
 * ```
 */
export async function moreOpenFiles(
  paths: readonly string[],
  than: FilePermissions,
): Promise<readonly string[]> {
  const open: string[] = [];
  for (const path of paths) {
    // What is wrong with a path, its own check says.
    const target = await checkOutputPath(path).catch(() => undefined);
    if (target?.existing && isMoreOpen(target.existing, than)) open.push(path);
  }
  return open;
}
