import * as fileSystem from 'node:fs/promises';
import { systemErrorCode } from './describe-system-error.js';

/** So that a rename in a folder outlasts a power cut. Errors are the system's. */
export async function syncFolder(
  path: string,
  files: Pick<typeof fileSystem, 'open'> = fileSystem,
): Promise<void> {
  const folder = await files.open(path, 'r');
  try {
    await folder.sync();
  } catch (error) {
    // Some file systems know no such thing.
    if (systemErrorCode(error) !== 'EINVAL') throw error;
  } finally {
    await folder.close();
  }
}
