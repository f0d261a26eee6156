import * as nodeFileSystem from 'node:fs/promises';

/**
 * The calls a run makes on the disk: a parameter, so that every one of them can be made to fail.
 */
export type FileSystem = Pick<
  typeof nodeFileSystem,
  'chmod' | 'mkdir' | 'open' | 'readFile' | 'readdir' | 'rename' | 'rm' | 'stat'
>;

export const systemFiles: FileSystem = nodeFileSystem;

/** Makes what was renamed or created in a directory outlast a power cut. */
export async function syncDirectory(files: FileSystem, path: string): Promise<void> {
  const directory = await files.open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
