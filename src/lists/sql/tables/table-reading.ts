import { InputError } from '../../../platform/errors/errors.js';
import type { ByteReader } from '../../files/bytes/byte-reader.js';
import { LineFeed, type Lines } from '../../files/bytes/line-feed.js';
import { closableChunks } from '../../rows/chunks/closable-chunks.js';
import type { Kind } from '../../rows/values/kinds.js';
import type { OpenSourceOptions, SourceReading } from '../../rows/source.js';
import { TableChunk } from './table-chunk.js';
import { kindOfColumn, parseTableForm, type TableForm } from './table-form.js';

/** No cell of a database is larger than a gibibyte; a row that is does not belong into a list. */
const maxRowBytes = 64 * 1024 * 1024;

/** One reading of rows of a database, or of those that were kept. */
export class TableReading implements SourceReading<TableChunk> {
  readonly header: readonly string[];
  readonly kinds: readonly (Kind | undefined)[];
  readonly form: TableForm;
  readonly chunks: AsyncIterable<TableChunk>;
  readonly #feed: LineFeed;

  private constructor(feed: LineFeed, first: Lines, form: TableForm) {
    this.#feed = feed;
    this.form = form;
    this.header = form.columns.map(({ name }) => name);
    this.kinds = form.columns.map(kindOfColumn);
    this.chunks = closableChunks(toChunks(feed, first, form), () => feed.close());
  }

  /**
   * Reads the form of the rows; the reader is closed when that fails.
   *
   * @throws InputError `input_unreadable`, `input_malformed`; what `wanted` throws
   */
  static async open(
    reader: ByteReader,
    name: string,
    opening: OpenSourceOptions,
  ): Promise<TableReading> {
    const feed = new LineFeed(reader, { name, maxLineBytes: maxRowBytes });
    try {
      const first = await feed.next();
      const line = first?.bytes.toString('utf8', 0, first.starts[1]);
      const form = line === undefined ? undefined : parseTableForm(line);
      if (first === undefined || form === undefined) {
        throw new InputError(`the rows kept of ${name} were written by another version of Sluice`);
      }
      const reading = new TableReading(feed, first, form);
      opening.wanted(reading.header);
      return reading;
    } catch (error) {
      await feed.close();
      throw error;
    }
  }

  /** SHA-256 of the rows; only when the last one was read. */
  contentDigest(): string {
    return this.#feed.contentDigest();
  }
}

async function* toChunks(
  feed: LineFeed,
  first: Lines,
  form: TableForm,
): AsyncGenerator<TableChunk> {
  if (first.starts.length > 2) yield new TableChunk(first, form, 1);
  for (let lines = await feed.next(); lines !== undefined; lines = await feed.next()) {
    yield new TableChunk(lines, form);
  }
}
