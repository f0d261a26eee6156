import { crc32 } from 'node:zlib';
import type { LineResults } from '../results/match-export.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import { join } from 'node:path';
import { StateError } from '../../platform/errors/errors.js';
import { onDisk } from '../../platform/files/disk-errors.js';
import { systemErrorCode } from '../../platform/text/system-errors.js';
import { type FileSystem, writeWhole } from '../../platform/files/file-system.js';
import { type Batch, batchLabel } from '../batches/batch.js';

/** As a number it identifies this format and this machine's byte order. */
const mark = 0x534c_5232;
const headWords = 3;
const wordBytes = 4;

/**
 * A batch's results on disk: mark, number of results, bytes of the dictionary; the dictionary, which has the
 * keys of the distinct outcomes as JSON, padded with spaces to whole words; positions of lines; for each the
 * position of its outcome in the dictionary; a CRC-32 of everything. Numbers are native 32-bit words.
 */
export function encodeResults({ lines, outcomes }: LineResults, table: OutcomeTable): Buffer {
  const { places, keys } = collectKeys(outcomes, table);
  const json = Buffer.from(JSON.stringify(keys));
  const dictionary = Buffer.alloc(Math.ceil(json.length / wordBytes) * wordBytes, ' ');
  json.copy(dictionary);
  const words = new Uint32Array(headWords + dictionary.length / wordBytes + 2 * lines.length + 1);
  const bytes = Buffer.from(words.buffer);
  words.set([mark, lines.length, dictionary.length]);
  dictionary.copy(bytes, headWords * wordBytes);
  const start = headWords + dictionary.length / wordBytes;
  words.set(lines, start);
  words.set(places, start + lines.length);
  words[words.length - 1] = crc32(bytes.subarray(0, -wordBytes));
  return bytes;
}

/** Reads what {@link encodeResults} wrote, with ids of the table. @returns `undefined` for damaged bytes */
export function decodeResults(bytes: Uint8Array, table: OutcomeTable): LineResults | undefined {
  if (bytes.length % wordBytes !== 0 || bytes.length < (headWords + 1) * wordBytes)
    return undefined;
  // A copy is aligned to whole words.
  const words = new Uint32Array(Uint8Array.from(bytes).buffer);
  const [found, count = 0, dictionaryBytes = 0] = words;
  const start = headWords + dictionaryBytes / wordBytes;
  if (found !== mark || words.length !== start + 2 * count + 1) return undefined;
  if (crc32(bytes.subarray(0, -wordBytes)) !== words.at(-1)) return undefined;
  // The checksum shows that this program wrote it.
  const keys = JSON.parse(
    Buffer.from(words.buffer, headWords * wordBytes, dictionaryBytes).toString(),
  ) as string[];
  const ids = Uint32Array.from(keys, (key) => table.idOfKey(key));
  const outcomes = words.subarray(start + count, start + 2 * count);
  for (let index = 0; index < count; index += 1) outcomes[index] = ids[outcomes[index] ?? 0] ?? 0;
  return { lines: words.subarray(start, start + count), outcomes };
}

function collectKeys(
  outcomes: Uint32Array,
  table: OutcomeTable,
): { readonly places: Uint32Array; readonly keys: readonly string[] } {
  const known = new Map<number, number>();
  const keys: string[] = [];
  const places = outcomes.map((outcome) => {
    let place = known.get(outcome);
    if (place === undefined) {
      place = keys.push(table.keyOf(outcome)) - 1;
      known.set(outcome, place);
    }
    return place;
  });
  return { places, keys };
}

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
      { code: 'state_damaged', file: path },
    );
  }

  #path(batch: Batch): string {
    return join(this.#directory, batchLabel(batch));
  }
}
