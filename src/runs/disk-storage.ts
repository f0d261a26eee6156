import { join } from 'node:path';
import type { BatchStorage } from '../batches/batch-cutter.js';
import type { FileSystem } from '../system/file-system.js';
import { onDisk } from './on-disk.js';
import { readFileBytes } from './read-file.js';

/** Keeps the TXT files of batches in a directory. They can be made again from the source. */
export class DiskStorage implements BatchStorage {
  readonly #files: FileSystem;
  readonly #directory: string;
  #pending = new Map<number, Uint8Array[]>();
  readonly #begun = new Set<number>();

  constructor(files: FileSystem, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  append(batch: number, block: Uint8Array): void {
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
    return join(this.#directory, `${String(batch + 1).padStart(6, '0')}.txt`);
  }
}
