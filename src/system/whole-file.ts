import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { closeFile } from './close-file.js';
import { syncDirectory, type FileSystem } from './file-system.js';

type Files = Pick<FileSystem, 'open' | 'rename'>;

/**
 * Gives a file that was written under another name its own: whoever finds the name finds all of it, also
 * after a power cut. Errors are the system's.
 *
 * @param beforeRename what is still to be done when its bytes are safe
 */
export async function putInPlace(
  files: Files,
  file: FileHandle,
  { from, to }: { readonly from: string; readonly to: string },
  beforeRename?: () => Promise<void>,
): Promise<void> {
  await file.sync();
  await beforeRename?.();
  await files.rename(from, to);
  await syncDirectory(files, dirname(to));
}

/**
 * Writes a file that has its name only when it is whole and safe on the disk; only its owner can read
 * it. What is left of an unfinished one has `.part` behind its name, and counts for nothing. Errors are
 * the system's and those of `write`.
 */
export async function writeWhole(
  files: Files,
  path: string,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const from = `${path}.part`;
  const file = await files.open(from, 'w', 0o600);
  try {
    await write(file);
    await putInPlace(files, file, { from, to: path });
  } finally {
    await closeFile(file);
  }
}
