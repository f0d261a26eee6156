import type { Batch } from './batch.js';

/**
 * The lines of a batch for an upload. A request that is given up may still be reading them: once this is
 * closed, their file is, too.
 */
export class UploadReading {
  readonly #batch: Batch;
  readonly #opened: AsyncGenerator<Uint8Array, void, undefined>[] = [];

  constructor(batch: Batch) {
    this.#batch = batch;
  }

  /** For each attempt a new one. */
  open(): AsyncIterable<Uint8Array> {
    const pieces = readLines(this.#batch);
    this.#opened.push(pieces);
    return pieces;
  }

  async close(): Promise<void> {
    for (const pieces of this.#opened) await pieces.return();
  }
}

async function* readLines(batch: Batch): AsyncGenerator<Uint8Array, void, undefined> {
  yield* batch.open();
}
