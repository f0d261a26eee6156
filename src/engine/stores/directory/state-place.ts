import { join } from 'node:path';
import type { FileSystem } from '../../../platform/files/file-system.js';
import type { StatePlace } from '../run-entries.js';

/**
 * Tells the journal of a state directory from a copy of it: its number on the disk, and when its file was
 * made, where the file system says so.
 *
 * @returns `undefined` when the system does not say
 */
export async function readStatePlace(
  files: Pick<FileSystem, 'stat'>,
  stateDir: string,
): Promise<StatePlace | undefined> {
  try {
    const { ino, birthtimeMs, ctimeMs } = await files.stat(join(stateDir, 'journal'));
    // Where no time of birth is kept, some systems give that of the latest change.
    return { ino, born: birthtimeMs > 0 && birthtimeMs < ctimeMs ? birthtimeMs : null };
  } catch {
    return undefined;
  }
}

/** Whether two places are surely not the same. */
export function isElsewhere(known: StatePlace | undefined, found: StatePlace | undefined): boolean {
  if (!known || !found) return false;
  if (known.ino !== found.ino) return true;
  return known.born !== null && found.born !== null && known.born !== found.born;
}
