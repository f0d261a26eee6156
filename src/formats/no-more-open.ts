import { stat } from 'node:fs/promises';
import type { FilePermissions } from '../rows/file-permissions.js';

/** The permissions of a file; those of a secret one where they cannot be had. */
export async function permissionsOf(path: string): Promise<FilePermissions> {
  const { mode, gid } = await stat(path).catch(() => ({ mode: 0o600, gid: -1 }));
  return { mode: mode & 0o777, gid };
}

/** Permission bits of a new file of a group: those the process gives, and no more than another file has. */
export function newFileMode(than: FilePermissions | undefined, gid: number): number {
  const given = 0o666 & ~process.umask();
  return than ? given & mostOpen(than, gid) : given;
}

/** The same of a new folder, which is searched by whoever may read it. */
export function newFolderMode(than: FilePermissions | undefined, gid: number): number {
  const given = 0o777 & ~process.umask();
  if (!than) return given;
  const files = mostOpen(than, gid);
  return given & (0o100 | files | ((files & 0o444) >> 2));
}

/** Whether a file is open to somebody whom another is closed to. */
export function isMoreOpen(file: FilePermissions, than: FilePermissions): boolean {
  return (file.mode & 0o666 & ~mostOpen(than, file.gid)) !== 0;
}

function mostOpen({ mode, gid: itsGid }: FilePermissions, gid: number): number {
  const [group, other] = [(mode >> 3) & 6, mode & 6];
  if (gid === itsGid) return 0o600 | (group << 3) | other;
  // Whoever is in the group of one of them may be anybody to the other.
  return 0o600 | ((group & other) << 3) | (group & other);
}
