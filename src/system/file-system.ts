import * as nodeFileSystem from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { closeFile } from './close-file.js';
import { openLocked } from './open-locked.js';

/**
 * The calls a run makes on the disk: a parameter, so that every one of them can be made to fail.
 */
export interface FileSystem extends Pick<
  typeof nodeFileSystem,
  'mkdir' | 'open' | 'readFile' | 'readdir' | 'rename' | 'rm' | 'stat' | 'statfs'
> {
  /**
   * Opens a file, making it if need be, and locks it for as long as it is open: the lock dies with its
   * process, however that ends.
   *
   * @returns `undefined` when another holds the lock
   */
  readonly openLocked: (path: string) => Promise<FileHandle | undefined>;
}

export const systemFiles: FileSystem = { ...nodeFileSystem, openLocked };

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
