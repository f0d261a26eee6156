import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { closeFile, syncDirectory, type FileSystem } from './file-system.js';

type Files = Pick<FileSystem, 'open' | 'rename'>;

/** Makes an open file outlast a power cut: its bytes and its name. Errors are the system's. */
export async function makeSafe(
  files: Pick<FileSystem, 'open'>,
  file: FileHandle,
  path: string,
): Promise<void> {
  await file.sync();
  await syncDirectory(files, dirname(path));
}

/** The same for files of one folder that are written and closed. */
export async function makeAllSafe(
  files: Pick<FileSystem, 'open'>,
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

/**
 * Gives a file or a folder another name. Errors are the system's.
 *
 * @param options.durable whether the name has to outlast a power cut. @default true
 */
export async function move(
  files: Files,
  { from, to }: { readonly from: string; readonly to: string },
  { durable = true }: { readonly durable?: boolean } = {},
): Promise<void> {
  await files.rename(from, to);
  if (durable) await syncDirectory(files, dirname(to));
}

/**
 * Gives a file that was written under another name its own: anyone who finds the name finds all of it, also
 * after a power cut. Errors are the system's.
 *
 * @param beforeRename what is still to be done when its bytes are safe
 */
export async function putInPlace(
  files: Files,
  file: FileHandle,
  names: { readonly from: string; readonly to: string },
  beforeRename?: () => Promise<void>,
): Promise<void> {
  await file.sync();
  await beforeRename?.();
  await move(files, names);
}

/**
 * Writes a file that has its name only when it is whole and safe on the disk; only its owner can read
 * it. What a kill leaves of an unfinished one is at `partPath`, and counts for nothing. Errors are the
 * system's and those of `write`.
 */
export async function writeWhole(
  files: Files & Pick<FileSystem, 'rm'>,
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

/** Where a file is written until it is whole. */
export function partPath(path: string): string {
  return `${path}.part`;
}

/**
 * Where a file or a folder at a path of the user's own choice is written until it is whole. Beside it, or a
 * rename could not be atomic; the same name for each writing, or what killed processes leave would pile up;
 * of a fixed length, as there may be no room for a longer name.
 */
export function besidePath(path: string, ending: 'partial' | 'parts' | 'old' | 'lock'): string {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(dirname(path), `.sluice-${name}.${ending}`);
}
