import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { OutputError } from '../../../platform/errors/errors.js';
import { isSluiceError } from '../../../platform/errors/is-sluice-error.js';
import { refuseReading } from '../../../platform/files/disk-errors.js';
import { describeSystemError } from '../../../platform/text/system-errors.js';
import { makeTemporaryFolder } from '../../../platform/files/private-folder.js';

export interface RandomFile {
  readonly name: string;
  readonly size: number;
  readonly signal: AbortSignal | undefined;
  /** The bytes between two positions; fewer only when the file was cut meanwhile. */
  read(from: number, to: number): Promise<Buffer>;
  digest(): Promise<string>;
  close(): Promise<void>;
}

export async function openRandomFile(
  path: string,
  name: string,
  signal?: AbortSignal,
): Promise<RandomFile> {
  signal?.throwIfAborted();
  const handle = await open(path).catch(refuseReading(name));
  return fromHandle(handle, name, signal);
}

/** Copies input that can be read once into an unlinked file: nobody else can open it, and it ends with the process. */
export async function spoolToRandomFile(
  reader: {
    readonly read: () => Promise<Uint8Array | undefined>;
    readonly close: () => Promise<void>;
  },
  name: string,
  signal?: AbortSignal,
): Promise<RandomFile> {
  const handle = await openNameless().catch((cause: unknown) => refuseSpooling(name, cause));
  try {
    for (;;) {
      const piece = await reader.read();
      if (piece === undefined) break;
      await handle.writeFile(piece).catch((cause: unknown) => refuseSpooling(name, cause));
    }
  } catch (error) {
    await handle.close();
    throw error;
  } finally {
    await reader.close();
  }
  return fromHandle(handle, name, signal);
}

async function openNameless(): Promise<FileHandle> {
  const folder = await makeTemporaryFolder('sluice-input-');
  try {
    return await open(join(folder, 'input'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const hashBytes = 1024 * 1024;

async function fromHandle(
  handle: FileHandle,
  name: string,
  signal?: AbortSignal,
): Promise<RandomFile> {
  const { size } = await handle.stat();
  let isOpen = true;
  const read = async (from: number, to: number): Promise<Buffer> => {
    signal?.throwIfAborted();
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, to - from));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await handle
        .read(bytes, filled, bytes.length - filled, from + filled)
        .catch(refuseReading(name));
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  };
  return {
    name,
    size,
    signal,
    read,
    async digest() {
      const hash = createHash('sha256');
      for (let at = 0; ; at += hashBytes) {
        const bytes = await read(at, at + hashBytes);
        hash.update(bytes);
        if (bytes.length < hashBytes) return hash.digest('hex');
      }
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await handle.close();
    },
  };
}

function refuseSpooling(name: string, cause: unknown): never {
  if (isSluiceError(cause)) throw cause;
  throw new OutputError(
    `cannot keep ${name} in the folder for temporary files: ${describeSystemError(cause)}`,
    { cause },
  );
}
