import type { BatchStorage } from './batch-cutter.js';

/** Keeps the TXT files of batches in memory, until each is dropped. */
export class MemoryStorage implements BatchStorage {
  readonly #blocks = new Map<number, Uint8Array[]>();

  append(batch: number, block: Uint8Array): void {
    const blocks = this.#blocks.get(batch);
    if (blocks) blocks.push(block);
    else this.#blocks.set(batch, [block]);
  }

  open(batch: number): Iterable<Uint8Array> {
    return this.#blocks.get(batch) ?? [];
  }

  drop(batch: number): void {
    this.#blocks.delete(batch);
  }
}
