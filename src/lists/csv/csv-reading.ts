import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import type { AboveHeader } from './dialect/header-detection.js';
import type { ByteReader } from '../files/bytes/byte-reader.js';
import type { CsvChunk } from './csv-chunk.js';
import { parseDelimiter } from './csv-format.js';
import { markBytesOf } from '../files/file-signature.js';
import { CsvFeed } from './csv-feed.js';
import { CsvScanner } from './csv-scanner.js';

/** What a CSV output needs to take over the form of its input. */
interface CsvForm {
  /** The lines above the header as they stand; a byte-order mark is the first of their bytes. */
  readonly aboveHeader: Uint8Array;
  /** The header's own bytes, a byte-order mark included; `undefined` when the input has none. */
  readonly headerBytes: Uint8Array | undefined;
  /** Whether the input begins with a byte-order mark. */
  readonly hasMark: boolean;
  /** The first row's own line end; empty when nothing follows that row. */
  readonly lineEnd: Uint8Array;
  readonly delimiter: string;
  /** Whether the input is TSV: a CSV output then has commas all the same. */
  readonly isTsv: boolean;
  /** Whether the input is a table under a name that ends in .txt: so is a .txt output then. */
  readonly isTxt: boolean;
}

/** The form of a CSV input. */
export interface CsvReadingOptions {
  readonly hasHeader: boolean;
  /** One ASCII character. */
  readonly delimiter: string;
  readonly isTsv: boolean;
  readonly isTxt: boolean;
  readonly maxRowBytes: number;
  /** What was read of the input before its header. */
  readonly above: AboveHeader;
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
    reader: ByteReader,
    { hasHeader, delimiter, isTsv, isTxt, maxRowBytes, above }: CsvReadingOptions,
    opening: OpenSourceOptions,
  ): Promise<CsvReading> {
    const scanner = new CsvScanner({
      name,
      delimiter: parseDelimiter(delimiter),
      hasHeader,
      maxRowBytes,
      firstLine: above.lines + 1,
      wanted: (names) => opening.wanted(names),
    });
    const feed = new CsvFeed(reader, scanner, above.bytes);
    const head = await feed.readHead();
    return new CsvReading(feed, head.names, {
      aboveHeader: above.bytes,
      headerBytes: head.bytes,
      hasMark: head.markBytes > 0 || markBytesOf(above.bytes) > 0,
      lineEnd: head.lineEnd,
      delimiter,
      isTsv,
      isTxt,
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
