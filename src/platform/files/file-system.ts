import * as nodeFileSystem from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import {
  checkOwnFile,
  checkOwnFolder,
  openOwnFile,
  readOwnFile,
  type OwnFlags,
} from './own-files.js';
import { closeFile } from './close-file.js';
import { openLocked } from './open-locked.js';

/**
 * The calls a run makes on the disk: a parameter, so that every one of them can be made to fail.
 */
export interface FileSystem extends Pick<
  typeof nodeFileSystem,
  'mkdir' | 'readdir' | 'rename' | 'rm' | 'stat' | 'statfs'
> {
  /** Follows no link to a file. */
  readonly open: (path: string, flags: OwnFlags, mode?: number) => Promise<FileHandle>;
  /** Follows no link. */
  readonly readFile: (path: string) => Promise<Buffer>;
  /**
   * Refuses a file that is another user's, open to others, or a link.
   *
   * @throws ConfigurationError saying what to do
   */
  readonly checkOwnFile: (path: string) => Promise<void>;
  /** The same of a folder, with what is in it. */
  readonly checkOwnFolder: (path: string) => Promise<void>;
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
  open: openOwnFile,
  readFile: readOwnFile,
  checkOwnFile,
  checkOwnFolder,
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
