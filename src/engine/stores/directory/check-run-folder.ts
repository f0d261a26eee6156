import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { OutputError } from '../../../platform/errors/errors.js';
import { describeSystemError } from '../../../platform/files/describe-system-error.js';
import { lockFile } from '../../../platform/files/file-lock.js';
import { besidePath } from '../../../platform/files/whole-file.js';
import { systemFiles } from '../../../platform/files/file-system.js';

/**
 * Whether a run could keep its state in a folder: it can be written, and has locks. Leaves nothing there.
 *
 * @throws OutputError where it cannot be written; ConfigurationError where its file system has no locks
 *
 * @example
 * ```ts
 * await checkRunFolder('.'); // throws where no run could keep its state
 * ```
 */
export async function checkRunFolder(folder: string): Promise<void> {
  await access(folder, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
    throw new OutputError(`cannot write to ${folder}: ${describeSystemError(cause)}`, { cause });
  });
  // Named as what is being written: a kill in between leaves what a run takes for its own.
  const path = besidePath(join(folder, 'doctor'), 'partial');
  const lock = await lockFile(systemFiles, {
    name: folder,
    path,
    option: '`stateDir`',
    canWait: false,
  });
  try {
    await systemFiles.rm(path, { force: true });
  } finally {
    await lock.release();
  }
}
