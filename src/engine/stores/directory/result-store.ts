import { join } from 'node:path';
import { StateError } from '../../../platform/errors/errors.js';
import { onDisk, systemErrorCode } from '../../../platform/files/disk-errors.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { writeWhole } from '../../../platform/files/whole-file.js';
import { type Batch, batchLabel } from '../../batches/batch.js';
import type { LineResults } from '../../results/match-export.js';
import type { OutcomeTable } from '../../results/outcome-table.js';
import { decodeResults, encodeResults } from '../result-codec.js';

/**
 * The results of batches, on disk until the output is complete: eight bytes an address. A file with its
 * batch's name is complete, and from a complete export.
 */
export class ResultStore {
  readonly #files: FileSystem;
  readonly #directory: string;

  constructor(files: FileSystem, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  /** Once it returns, the results survive a power cut. */
  async keep(batch: Batch, results: LineResults, outcomes: OutcomeTable): Promise<void> {
    const path = this.#path(batch);
    await onDisk(`keep results in ${this.#directory}`, async () =>
      writeWhole(this.#files, path, async (file) =>
        file.appendFile(encodeResults(results, outcomes)),
      ),
    );
  }

  /** The same, or `undefined` without results. */
  async find(batch: Batch, outcomes: OutcomeTable): Promise<LineResults | undefined> {
    const names = await onDisk(`read ${this.#directory}`, async () =>
      this.#files.readdir(this.#directory),
    );
    return names.includes(batchLabel(batch)) ? this.read(batch, outcomes) : undefined;
  }

  async has(batch: Batch): Promise<boolean> {
    return this.#files.stat(this.#path(batch)).then(
      () => true,
      (error: unknown) => systemErrorCode(error) !== 'ENOENT',
    );
  }

  async read(batch: Batch, outcomes: OutcomeTable): Promise<LineResults> {
    const path = this.#path(batch);
    const bytes = await onDisk(`read ${path}`, async () => this.#files.readFile(path));
    const results = decodeResults(bytes, outcomes);
    if (results) return results;
    throw new StateError(
      `${path} is damaged: restore it, or remove it, and the same command fetches it again where the service still has the batch`,
      { code: 'state_damaged' },
    );
  }

  #path(batch: Batch): string {
    return join(this.#directory, batchLabel(batch));
  }
}
