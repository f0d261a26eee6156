import { join } from 'node:path';
import { batchLabel } from '../batches/batch-label.js';
import type { Batch } from '../batches/batch.js';
import type { ExportOpener } from '../batches/result-join.js';
import { closeFile } from './close-file.js';
import { syncDirectory, type FileSystem } from './file-system.js';
import { onDisk } from './on-disk.js';
import { readFileBytes } from './read-file.js';

/**
 * Exports kept on disk until the output stands. One that bears its name is whole: it was read to its
 * end and counted before it was renamed.
 */
export class ExportStore {
  readonly #files: FileSystem;
  readonly #directory: string;
  readonly #doing: string;

  constructor(files: FileSystem, directory: string) {
    this.#files = files;
    this.#directory = directory;
    this.#doing = `keep an export in ${directory}`;
  }

  /**
   * Writes an export down while it is fetched and read, and keeps it once it was read to its end.
   *
   * @param read reads the whole export; it may open it again
   * @throws what `fetch` and `read` throw; OutputError when the disk fails
   */
  async keep<Read>(
    batch: Batch,
    fetch: ExportOpener,
    read: (open: ExportOpener) => Promise<Read>,
  ): Promise<Read> {
    const path = this.#path(batch);
    const part = `${path}.part`;
    const file = await onDisk(this.#doing, async () => this.#files.open(part, 'w', 0o600));
    let result: Read;
    try {
      const write = async (chunk: Uint8Array): Promise<void> =>
        onDisk(this.#doing, async () => file.appendFile(chunk));
      let isFetched = false;
      result = await read(async () => {
        if (isFetched) return readFileBytes(this.#files, part, true);
        isFetched = true;
        return passing(await fetch(), write);
      });
      await onDisk(this.#doing, async () => file.sync());
    } finally {
      await closeFile(file);
    }
    await onDisk(this.#doing, async () => this.#files.rename(part, path));
    await onDisk(this.#doing, async () => syncDirectory(this.#files, this.#directory));
    return result;
  }

  /** Opens kept exports, as often as asked. */
  opener(batch: Batch): ExportOpener {
    return async () => readFileBytes(this.#files, this.#path(batch), true);
  }

  #path(batch: Batch): string {
    return join(this.#directory, `${batchLabel(batch)}.json`);
  }
}

async function* passing(
  body: AsyncIterable<Uint8Array>,
  write: (chunk: Uint8Array) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    await write(chunk);
    yield chunk;
  }
}
