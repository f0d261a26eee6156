import { closeSync, constants, fstatSync, ftruncateSync, openSync, type Stats } from 'node:fs';
import { chmod, lstat, open, readdir, readlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '../errors/errors.js';

/*
 * Sluice trusts and overwrites its own files (a state directory, a history, the local service's data):
 * whoever could plant one could decide what is paid, and which files are overwritten. So they must be the
 * user's own, closed to others, and no links.
 *
 * Windows has no such owners and permission bits: there only links are refused.
 */

export type OpenFlags = 'r' | 'r+' | 'a' | 'a+' | 'w' | 'wx';

const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_APPEND } = constants;
const { O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

const openFlags: Readonly<Record<OpenFlags, number>> = {
  r: O_RDONLY,
  'r+': O_RDWR,
  a: O_WRONLY | O_CREAT | O_APPEND,
  'a+': O_RDWR | O_CREAT | O_APPEND,
  // Truncated only once it is known to be the user's own.
  w: O_WRONLY | O_CREAT,
  wx: O_WRONLY | O_CREAT | O_EXCL,
};

/** A planted pipe must not block the opening either. */
const safeFlags = (flags: OpenFlags): number => openFlags[flags] | O_NOFOLLOW | O_NONBLOCK;

/** A message about the protection would show the way around it. */
const elsewhere =
  'Another place starts from nothing: an unfinished run that is kept here would be paid again there';

/** System errors for a link (EMLINK on FreeBSD), and for a pipe without a reader. */
const strangeErrors: readonly string[] = ['ELOOP', 'EMLINK', 'ENXIO'];

/** Opens one of Sluice's own files without following a link: only a folder to be synced may be behind one. */
export async function openPrivateFile(
  path: string,
  flags: OpenFlags = 'r',
  mode = 0o600,
): Promise<FileHandle> {
  const file = await open(path, safeFlags(flags), mode).catch(async (error: unknown) => {
    if (!strangeErrors.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    const folder =
      flags === 'r' ? await open(path, O_RDONLY | O_DIRECTORY).catch(() => undefined) : undefined;
    if (folder) return folder;
    await lstatPrivate(path);
    throw error;
  });
  try {
    // Of an open file the system knows both at once: a turn of a thread would take ten times as long.
    const stats = fstatSync(file.fd);
    if (!stats.isDirectory()) refuseStrange(path, stats);
    if (flags === 'w' && stats.size > 0) await file.truncate(0);
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
  return file;
}

export function openPrivateFileSync(path: string, flags: OpenFlags): number {
  const fd = openSync(path, safeFlags(flags), 0o600);
  try {
    refuseStrange(path, fstatSync(fd));
    if (flags === 'w') ftruncateSync(fd);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}

export async function readPrivateFile(path: string): Promise<Buffer> {
  const file = await openPrivateFile(path);
  try {
    return await file.readFile();
  } finally {
    await file.close().catch(() => undefined);
  }
}

/** The same; empty for a missing file. */
export async function readPrivateFileIfExists(path: string): Promise<Buffer> {
  try {
    return await readPrivateFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** Checks one of Sluice's own files; a missing one passes. A folder fails when it is opened. */
export async function checkPrivateFile(path: string): Promise<void> {
  const stats = await lstatPrivate(path);
  if (stats?.isFile() === true) refuseOpen(path, stats);
}

/**
 * Checks one of Sluice's own folders with its content; a missing one passes. An empty folder of the user is
 * closed to others. A file fails when it is used as a folder.
 *
 * @param isUsed whether Sluice uses a name in the folder. @default all
 */
export async function checkPrivateFolder(
  path: string,
  isUsed: (name: string) => boolean = () => true,
): Promise<void> {
  const stats = await lstatPrivate(path);
  if (stats?.isDirectory() !== true) return;
  const names = await readdir(path);
  if (names.length === 0 && isOpenToOthers(stats)) {
    await chmod(path, 0o700);
    if (isOpenToOthers(await lstat(path))) throw noPermissionsError(path);
  } else {
    refuseOpen(path, stats);
  }
  for (const name of names.filter(isUsed)) await checkInside(join(path, name));
}

async function lstatPrivate(path: string): Promise<Stats | undefined> {
  const stats = await lstatIfExists(path);
  if (!stats) return undefined;
  if (stats.isSymbolicLink()) throw linkError(path, await readlink(path).catch(() => undefined));
  refuseStrange(path, stats);
  return stats;
}

/** The folder is closed to others: whatever is in it was there before. */
async function checkInside(path: string): Promise<void> {
  const stats = await lstatPrivate(path);
  if (stats?.isDirectory() !== true) return;
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) throw linkError(join(path, entry.name));
  }
}

function refuseStrange(path: string, stats: Stats): void {
  if (stats.isSymbolicLink()) throw linkError(path);
  const isFile = stats.isFile();
  if (!isFile && !stats.isDirectory()) {
    throw new ConfigurationError(
      `${path} is neither a file nor a folder: remove it, or name another place`,
      { file: path, fault: 'unsupported' },
    );
  }
  const uid = process.geteuid?.();
  if (uid !== undefined && stats.uid !== uid) {
    throw new ConfigurationError(
      `${path} belongs to another user (uid ${stats.uid}, and this process has uid ${uid}): run Sluice as that user. ${elsewhere}`,
      { file: path, fault: 'other_user' },
    );
  }
  if (isFile && stats.nlink > 1) {
    throw new ConfigurationError(
      `${path} has a second name (a hard link), and writing to it would change that file too: remove the other name, or put a copy here`,
      { file: path, fault: 'second_name' },
    );
  }
}

function refuseOpen(path: string, stats: Stats): void {
  if (!isOpenToOthers(stats)) return;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  throw new ConfigurationError(
    `${path} is open to other users (mode ${mode}): close it with chmod ${stats.isDirectory() ? '-R ' : ''}go= ${path}. ${elsewhere}`,
    { file: path, fault: 'open_to_others' },
  );
}

function isOpenToOthers({ mode }: Stats): boolean {
  return process.geteuid !== undefined && (mode & 0o077) !== 0;
}

function linkError(path: string, target?: string): ConfigurationError {
  const leads = target === undefined ? '' : ` to ${target}`;
  return new ConfigurationError(
    `${path} is a link${leads}, and links are not followed here: name what it leads to, or remove it`,
    { file: path, fault: 'link' },
  );
}

function noPermissionsError(path: string): ConfigurationError {
  return new ConfigurationError(
    `${path} cannot be closed to other users: its file system keeps no permissions; name a place on another one`,
    { file: path, fault: 'no_permissions' },
  );
}

async function lstatIfExists(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
