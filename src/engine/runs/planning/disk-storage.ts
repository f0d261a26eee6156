import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { BatchStorage } from '../../plan/batch-cutter.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { makeAllSafe } from '../../../platform/files/whole-file.js';
import { onDisk } from '../../../platform/files/on-disk.js';
import { readFileBytes } from '../../../platform/files/read-file.js';

/**
 * Keeps the TXT files of batches in a directory. What is launched of them is known by its lines when the
 * source has changed: they are safe before anything is sent, and written once.
 */
export class DiskStorage implements BatchStorage {
  readonly #files: FileSystem;
  readonly #directory: string;
  /** Batches that are on the disk as they were written down: whatever is appended to them is the same. */
  readonly #whole = new Set<number>();
  #pending = new Map<number, Uint8Array[]>();
  readonly #begun = new Set<number>();

  constructor(files: FileSystem, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  /**
   * Keeps the files that an earlier process has written whole.
   *
   * @param checksums of its batches
   * @throws OutputError
   */
  async keepWhole(checksums: readonly number[]): Promise<void> {
    const names = await onDisk(`read ${this.#directory}`, async () =>
      this.#files.readdir(this.#directory),
    );
    for (const [batch, checksum] of checksums.entries()) {
      if (!names.includes(batchFileName(batch))) continue;
      const found = await measure(this.open(batch));
      if (found.checksum === checksum) this.#whole.add(batch);
    }
  }

  append(batch: number, block: Uint8Array): void {
    if (this.#whole.has(batch)) return;
    const blocks = this.#pending.get(batch);
    if (blocks) blocks.push(block);
    else this.#pending.set(batch, [block]);
  }

  /**
   * Writes what was appended since.
   *
   * @throws OutputError
   */
  async flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [batch, blocks] of pending) await this.#write(batch, blocks);
  }

  /** What was written outlasts a power cut when this has returned. @throws OutputError */
  async makeSafe(): Promise<void> {
    if (this.#begun.size === 0) return;
    const names = Array.from(this.#begun, batchFileName);
    await onDisk(`write a batch into ${this.#directory}`, async () =>
      makeAllSafe(this.#files, this.#directory, names),
    );
  }

  /** Chunks are lent: each is only good until the one after the next is asked for. */
  open(batch: number): AsyncIterable<Uint8Array> {
    return readFileBytes(this.#files, this.#path(batch), true);
  }

  async #write(batch: number, blocks: readonly Uint8Array[]): Promise<void> {
    await onDisk(`write a batch into ${this.#directory}`, async () => {
      const flags = this.#begun.has(batch) ? 'a' : 'w';
      const file = await this.#files.open(this.#path(batch), flags, 0o600);
      this.#begun.add(batch);
      try {
        for (const block of blocks) await file.appendFile(block);
      } finally {
        await file.close();
      }
    });
  }

  #path(batch: number): string {
    return join(this.#directory, batchFileName(batch));
  }
}

/** Name of the TXT file of a batch. */
export function batchFileName(batch: number): string {
  return `${String(batch + 1).padStart(6, '0')}.txt`;
}

/** The size and the checksum of a batch's file. */
export async function measure(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly sizeBytes: number; readonly checksum: number }> {
  let [sizeBytes, checksum] = [0, 0];
  for await (const chunk of bytes) {
    sizeBytes += chunk.length;
    checksum = crc32(chunk, checksum);
  }
  return { sizeBytes, checksum };
}
