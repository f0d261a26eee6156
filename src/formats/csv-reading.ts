import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import { nothingAbove, type AboveHeader } from './above-header.js';
import type { ByteReader } from './byte-reader.js';
import type { CsvChunk } from './csv-chunk.js';
import { parseDelimiter } from './csv-dialect.js';
import type { CsvForm } from './csv-form.js';
import { CsvFeed } from './csv-feed.js';
import { CsvScanner } from './csv-scanner.js';

/** The form of a CSV input. */
export interface CsvOptions {
  /**
   * Whether the first row names the columns; without, they are named `#1`, `#2`, …
   * @default true
   */
  readonly header?: boolean;
  /**
   * What stands between two cells: one ASCII character.
   * @default ','
   */
  readonly delimiter?: string;
  /**
   * Most bytes of a row: a quote that is never closed is noticed before it has swallowed the file.
   * @default 16 MiB
   */
  readonly maxRowBytes?: number;
}

/** One reading of a CSV input. A reading that is not iterated has to be closed. */
export class CsvReading implements SourceReading<CsvChunk> {
  readonly header: readonly string[];
  readonly form: CsvForm;
  readonly #feed: CsvFeed;

  private constructor(feed: CsvFeed, header: readonly string[], form: CsvForm) {
    this.#feed = feed;
    this.header = header;
    this.form = form;
  }

  /**
   * Reads as far as the first row; `reader` is closed when that fails.
   *
   * @throws ConfigurationError `invalid_option`; InputError `input_unreadable`, `input_malformed`;
   *   what `wanted` throws
   */
  static async open(
    name: string,
    openReader: (signal?: AbortSignal) => Promise<ByteReader>,
    options: CsvOptions & {
      readonly isTsv?: boolean;
      readonly isTxt?: boolean;
      /** What was read of the input before its header. */
      readonly above?: AboveHeader;
    },
    opening: OpenSourceOptions,
  ): Promise<CsvReading> {
    const { delimiter = ',', above = nothingAbove } = options;
    const scanner = new CsvScanner({
      name,
      delimiter: parseDelimiter(delimiter),
      hasHeader: options.header ?? true,
      maxRowBytes: options.maxRowBytes ?? 16 * 1024 * 1024,
      firstLine: above.lines + 1,
      wanted: (names) => opening.wanted(names),
    });
    const feed = new CsvFeed(await openReader(opening.signal), scanner, above.bytes);
    const head = await feed.readHead();
    return new CsvReading(feed, head.names, {
      aboveHeader: above.bytes,
      headerBytes: head.bytes,
      lineEnd: head.lineEnd,
      delimiter,
      isTsv: options.isTsv ?? false,
      isTxt: options.isTxt ?? false,
    });
  }

  get isUnnamed(): boolean {
    return this.form.headerBytes === undefined;
  }

  get chunks(): AsyncIterable<CsvChunk> {
    return this.#feed;
  }

  /** SHA-256 of the input's bytes; only when the last row was read. */
  contentDigest(): string {
    const { digest } = this.#feed;
    if (digest === undefined) throw new Error('the content is not known before its end was read');
    return digest;
  }

  async close(): Promise<void> {
    await this.#feed.close();
  }
}
