import { join } from 'node:path';
import { lockFile, type FileLock, type LockPatience } from '../../../platform/files/file-lock.js';
import type { FileSystem } from '../../../platform/files/file-system.js';

/**
 * Locks a state directory through a file in it.
 *
 * @throws StateError `state_locked` when another process holds it
 */
export async function lockDirectory(
  files: FileSystem,
  directory: string,
  patience?: LockPatience,
): Promise<FileLock> {
  return lockFile(
    files,
    {
      name: `the state directory ${directory}`,
      path: join(directory, 'lock'),
      option: '`stateDir`',
      remake: async () => {
        await files.mkdir(directory, { recursive: true, mode: 0o700 });
      },
    },
    patience,
  );
}
