import { join } from 'node:path';
import { lockFile, type FileLock } from '../../platform/files/file-lock.js';
import { systemFiles } from '../../platform/files/file-system.js';
import { optionName } from '../../platform/text/option-name.js';

/**
 * Makes sure that one service at a time works on a folder, by a file in it.
 *
 * @throws StateError `state_locked`; ConfigurationError where the file system has no locks; OutputError
 */
export async function lockFolder(folder: string): Promise<FileLock> {
  return lockFile(systemFiles, {
    name: `the local service's data in ${folder}`,
    path: join(folder, 'lock'),
    option: optionName('dataDir'),
    canWait: false,
  });
}
