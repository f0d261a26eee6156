import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { lockFile, type LockWaitOptions } from '../../../platform/files/file-lock.js';
import { systemFiles } from '../../../platform/files/file-system.js';
import type { RandomFile } from '../../../platform/files/random-file.js';
import { besidePath } from '../../../platform/files/whole-file.js';

/** Where the bytes of an output go. */
export interface ByteOutput {
  /**
   * Whether bytes are their owner's again once the write of them has resolved.
   * @default they must not be changed after the call
   */
  readonly givesBack?: boolean;
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the output visible: whole, and on disk where it is a file. */
  finish(): Promise<void>;
  /** Opens what was written so far, while it is not complete yet. Absent where it cannot be read. */
  readBack?: (() => Promise<RandomFile>) | undefined;
  /** Drops the output as far as it can be dropped. Never fails, and does nothing after `finish`. */
  abort(): Promise<void>;
}

/**
 * Keeps other runs from writing an output, by a lock beside it, until what comes is called.
 *
 * @param name how messages call it
 *
 * @param realPath with all links followed
 */
export async function holdOutput(
  name: string,
  realPath: string,
  patience?: LockWaitOptions,
): Promise<() => Promise<void>> {
  const path = besidePath(realPath, 'lock');
  const thing = { name, path, option: 'it', does: 'is writing', canWait: patience !== undefined };
  const lock = await lockFile(systemFiles, thing, patience).catch(async (error: unknown) => {
    patience?.signal?.throwIfAborted();
    if (isSluiceError(error, 'state_locked')) throw error;
    // Where there are no locks, a run that cannot be kept from it is noticed when it is finished.
    await systemFiles.rm(path, { force: true }).catch(() => undefined);
    return undefined;
  });
  return async () => {
    if (!lock) return;
    const remove = async (): Promise<void> => systemFiles.rm(path, { force: true });
    // A second try is all that a moment without descriptors takes; what stays is empty, and the next run's.
    await remove()
      .catch(remove)
      .catch(() => undefined);
    await lock.release();
  };
}
