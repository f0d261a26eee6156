import * as nodeFileSystem from 'node:fs/promises';
import { type FileHandle, stat } from 'node:fs/promises';
import { onDisk } from './disk-errors.js';
import { isListedLocked, openLocked } from './flock.js';
import {
  checkPrivateFile,
  checkPrivateFolder,
  openPrivateFile,
  readPrivateFile,
  type OpenFlags,
} from './private-files.js';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';

/** The file system calls of a run: a parameter, so that each can fail in tests. */
export interface FileSystem extends Pick<
  typeof nodeFileSystem,
  'mkdir' | 'readdir' | 'rename' | 'rm' | 'stat' | 'statfs'
> {
  /** Does not follow a link to a file. */
  readonly open: (path: string, flags: OpenFlags, mode?: number) => Promise<FileHandle>;
  readonly readFile: (path: string) => Promise<Buffer>;
  /** Refuses a file that is another user's, open to others, or a link. */
  readonly checkPrivateFile: (path: string) => Promise<void>;
  /** The same for a folder and its content. */
  readonly checkPrivateFolder: (path: string) => Promise<void>;
  /**
   * Opens a file, created when missing, and locks it while it is open: the lock ends with its process.
   *
   * @param isShared whether others may hold it so, too. @default false
   * @returns `undefined` when another holds the lock
   */
  readonly openLocked: (path: string, isShared?: boolean) => Promise<FileHandle | undefined>;
  /** Whether the system lists a lock on a file; see {@link isListedLocked}. */
  readonly isListedLocked: (path: string, access?: 'READ') => Promise<boolean>;
}

export const systemFiles: FileSystem = {
  ...nodeFileSystem,
  open: openPrivateFile,
  readFile: readPrivateFile,
  checkPrivateFile,
  checkPrivateFolder,
  openLocked,
  isListedLocked,
};

/** Syncs a directory, so that renamed and created names survive a power cut. Errors are the system's. */
export async function syncDirectory(files: Pick<FileSystem, 'open'>, path: string): Promise<void> {
  const directory = await files.open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    // Some file systems do not support that.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  } finally {
    await closeFile(directory);
  }
}

/** Closes a file that was only read, or whose bytes are safe: an error at closing must not hide an earlier one. */
export async function closeFile(file: FileHandle): Promise<void> {
  try {
    await file.close();
  } catch {
    // The descriptor is closed all the same.
  }
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Who may read and write a file. */
export interface FilePermissions {
  /** Its permission bits. */
  readonly mode: number;
  /** Its group, to which the group bits apply. */
  readonly gid: number;
}

/** The first chunk is small, as most files are; later ones grow up to the largest. */
const firstChunkBytes = 16 * 1024;
const mostChunkBytes = 256 * 1024;
const growth = 4;

/**
 * The bytes of a file in the state directory; it is closed at the end of the reading.
 *
 * @param isLent a chunk is valid until the one after the next is requested: memory does not grow with the
 * file, not even by garbage
 */
export async function* readFileBytes(
  files: FileSystem,
  path: string,
  isLent = false,
): AsyncGenerator<Buffer> {
  const doing = `read ${path}`;
  const file = await onDisk(doing, async () => files.open(path, 'r'));
  const lent: Buffer[] = [];
  let chunkBytes = firstChunkBytes;
  try {
    for (;;) {
      // A lent buffer, or a new one that the reader may keep.
      const free = lent.length === 2 ? lent.shift() : undefined;
      const chunk = free?.length === chunkBytes ? free : Buffer.allocUnsafeSlow(chunkBytes);
      if (isLent) lent.push(chunk);
      const { bytesRead, buffer } = await onDisk(doing, async () => file.read(chunk));
      if (bytesRead === 0) return;
      if (bytesRead === chunk.length) chunkBytes = Math.min(chunkBytes * growth, mostChunkBytes);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await closeFile(file);
  }
}

/** Of the file system, what gives a file its name. */
type Renaming = Pick<FileSystem, 'open' | 'rename'>;

/**
 * Syncs an open file and its name. Errors are the system's.
 *
 * @param options.named whether its name must survive a power cut: once is enough for all of a folder. @default true
 */
export async function makeSafe(
  files: FileSystem,
  file: FileHandle,
  path: string,
  { named = true }: { readonly named?: boolean } = {},
): Promise<void> {
  await file.sync();
  if (named) await syncDirectory(files, dirname(path));
}

/** The same for closed files of one folder. */
export async function makeAllSafe(
  files: FileSystem,
  folder: string,
  names: Iterable<string>,
): Promise<void> {
  for (const name of names) {
    const file = await files.open(join(folder, name), 'a', 0o600);
    try {
      await file.sync();
    } finally {
      await closeFile(file);
    }
  }
  await syncDirectory(files, folder);
}

/** Renames a file or folder; errors are the system's. @param options.durable survives a power cut. @default true */
export async function move(
  files: Renaming,
  { from, to }: { readonly from: string; readonly to: string },
  { durable = true }: { readonly durable?: boolean } = {},
): Promise<void> {
  await files.rename(from, to);
  if (durable) await syncDirectory(files, dirname(to));
}

/**
 * Renames a finished file to its own name, so that the name always leads to the complete file, also after a
 * power cut. Errors are the system's.
 *
 * @param beforeRename called when its bytes are safe
 */
export async function putInPlace(
  files: Renaming,
  file: FileHandle,
  names: { readonly from: string; readonly to: string },
  beforeRename?: () => Promise<void>,
): Promise<void> {
  await file.sync();
  await beforeRename?.();
  await move(files, names);
}

/**
 * Writes a file that gets its name once it is complete and synced; readable by its owner only. A kill may
 * leave an unfinished one at `partPath`, which is ignored. Errors are the system's and those of `write`.
 */
export async function writeWhole(
  files: FileSystem,
  path: string,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const from = partPath(path);
  const file = await files.open(from, 'w', 0o600);
  try {
    await write(file);
    await putInPlace(files, file, { from, to: path });
  } catch (error) {
    await files.rm(from, { force: true }).catch(() => undefined);
    throw error;
  } finally {
    await closeFile(file);
  }
}

export function partPath(path: string): string {
  return `${path}.part`;
}

/**
 * Path of an unfinished file or folder beside a path of the user's choice: in the same folder, so that the
 * rename is atomic; always the same name, so that leftovers of killed processes do not pile up; of a fixed
 * length, as a longer name may not fit.
 */
export function besidePath(path: string, ending: 'partial' | 'parts' | 'old' | 'lock'): string {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(dirname(path), `.sluice-${name}.${ending}`);
}
