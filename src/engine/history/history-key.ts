import { createHash, randomBytes } from 'node:crypto';
import { StateError } from '../../platform/errors/errors.js';
import { closeFile, type FileSystem, makeSafe } from '../../platform/files/file-system.js';
import { lockFile, type FileLock, type LockWait } from '../../platform/files/file-lock.js';
import { onDisk } from '../../platform/files/disk-errors.js';

const keyForm = /^[0-9a-f]{64}\n$/;

/** The key of a history's hashes and the lock on the history: a file beside it. */
export interface HistoryKey {
  readonly seed: Uint8Array;
  readonly fingerprint: string;
  readonly lock: FileLock;
  /** Whether it was there, and no history beside it. */
  readonly isLost: boolean;
}

export function historyKeyPath(path: string): string {
  return `${path}.key`;
}

export async function takeHistoryKey(
  files: FileSystem,
  path: string,
  exists: () => Promise<boolean>,
  patience: LockWait,
): Promise<HistoryKey> {
  const keyPath = historyKeyPath(path);
  const lock = await onDisk(`lock the history ${path}`, async () =>
    lockFile(files, { name: `the history ${path}`, path: keyPath, option: 'history' }, patience),
  );
  try {
    return await onDisk(`read the history's key ${keyPath}`, async () => {
      let text = (await files.readFile(keyPath)).toString('latin1');
      const isBegun = await exists();
      const isLost = keyForm.test(text) && !isBegun;
      if (!keyForm.test(text)) {
        // It is written before the history: a key without one is what a kill has left.
        if (isBegun) throw missingKey(path);
        text = await writeKey(files, keyPath);
      } else if (isLost) {
        // The process that wrote it may have been killed before its sync.
        await syncKey(files, keyPath);
      }
      const seed = Buffer.from(text.trim(), 'hex');
      return { seed, fingerprint: fingerprintOf(seed), lock, isLost };
    });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function writeKey(files: FileSystem, keyPath: string): Promise<string> {
  const text = `${randomBytes(32).toString('hex')}\n`;
  await onDisk(`write the history's key ${keyPath}`, async () => {
    const file = await files.open(keyPath, 'a+', 0o600);
    try {
      await file.truncate(0);
      await file.appendFile(text);
      await makeSafe(files, file, keyPath);
    } finally {
      await closeFile(file);
    }
  });
  return text;
}

/** Before anything is hashed with it: a history without its key is worthless. */
async function syncKey(files: FileSystem, keyPath: string): Promise<void> {
  const file = await files.open(keyPath, 'a+', 0o600);
  try {
    await makeSafe(files, file, keyPath);
  } finally {
    await closeFile(file);
  }
}

function fingerprintOf(seed: Uint8Array): string {
  return createHash('sha256').update('sluice history key').update(seed).digest('hex').slice(0, 16);
}

export function missingKey(path: string): StateError {
  const keyPath = historyKeyPath(path);
  return new StateError(
    `${path} is not a history, or has lost its key: put back ${keyPath}, or name another file`,
    { code: 'state_damaged', option: 'history', file: keyPath, fault: 'missing' },
  );
}
