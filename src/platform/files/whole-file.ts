import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { closeFile, syncDirectory, type FileSystem } from './file-system.js';

/** Of the file system, what gives a file its name. */
type Renaming = Pick<FileSystem, 'open' | 'rename'>;

/** Syncs an open file and its name. Errors are the system's. */
export async function makeSafe(files: FileSystem, file: FileHandle, path: string): Promise<void> {
  await file.sync();
  await syncDirectory(files, dirname(path));
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

/**
 * Renames a file or folder. Errors are the system's.
 *
 * @param options.durable whether the name must survive a power cut. @default true
 */
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

/** Path of the unfinished file. */
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
