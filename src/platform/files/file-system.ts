import * as nodeFileSystem from 'node:fs/promises';
import { type FileHandle, stat } from 'node:fs/promises';
import { onDisk } from './disk-errors.js';
import {
  openLocked,
  checkPrivateFile,
  checkPrivateFolder,
  openPrivateFile,
  readPrivateFile,
  type OpenFlags,
} from './private-files.js';

/**
 * The calls a run makes on the disk: a parameter, so that every one of them can be made to fail.
 */
export interface FileSystem extends Pick<
  typeof nodeFileSystem,
  'mkdir' | 'readdir' | 'rename' | 'rm' | 'stat' | 'statfs'
> {
  /** Follows no link to a file. */
  readonly open: (path: string, flags: OpenFlags, mode?: number) => Promise<FileHandle>;
  /** Follows no link. */
  readonly readFile: (path: string) => Promise<Buffer>;
  /** Refuses a file that is another user's, open to others, or a link. */
  readonly checkPrivateFile: (path: string) => Promise<void>;
  /** The same of a folder, with what is in it. */
  readonly checkPrivateFolder: (path: string) => Promise<void>;
  /**
   * Opens a file, making it if need be, and locks it for as long as it is open: the lock dies with its
   * process, however that ends.
   *
   * @returns `undefined` when another holds the lock
   */
  readonly openLocked: (path: string) => Promise<FileHandle | undefined>;
}

export const systemFiles: FileSystem = {
  ...nodeFileSystem,
  open: openPrivateFile,
  readFile: readPrivateFile,
  checkPrivateFile,
  checkPrivateFolder,
  openLocked,
};

/** Makes what was renamed or created in a directory outlast a power cut. Errors are the system's. */
export async function syncDirectory(files: Pick<FileSystem, 'open'>, path: string): Promise<void> {
  const directory = await files.open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    // Some file systems know no such thing.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
  } finally {
    await closeFile(directory);
  }
}

/**
 * Closes a file that was only read, or whose bytes are safe on the disk: what the system says to that
 * changes nothing, and must not hide what went wrong before.
 */
export async function closeFile(file: FileHandle): Promise<void> {
  try {
    await file.close();
  } catch {
    // The descriptor is gone all the same.
  }
}

/** Whether a path leads to something. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Who may read a file and write to it. */
export interface FilePermissions {
  /** Its permission bits. */
  readonly mode: number;
  /** Its group, whom the bits of the group are for. */
  readonly gid: number;
}

/** The first chunk is small, as most files are; the one after a full one is larger, up to the most. */
const firstChunkBytes = 16 * 1024;
const mostChunkBytes = 256 * 1024;
const growth = 4;

/**
 * The bytes of a file of the state directory, from its first to its last; the file is closed when the
 * reading ends.
 *
 * @param isLent a chunk is only the reader's until it asks for the one after the next: memory does not
 *   grow with the file, not even by what waits to be collected
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
      // One of the two that were lent, or a fresh one, which anyone who reads may keep.
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
