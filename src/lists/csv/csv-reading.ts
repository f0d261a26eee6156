import { createHash } from 'node:crypto';
import { markBytesOf } from '../files/file-signature.js';
import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
import type { CsvChunk } from './csv-chunk.js';
import { parseDelimiter, type CsvHead } from './csv-format.js';
import { CsvScanner } from './csv-scanner.js';
import type { FooterReader } from './dialect/footer-reader.js';
import type { HeaderDetection } from './dialect/header-detection.js';

/** What a CSV output needs to take over the form of its input. */
interface CsvForm {
  /** The lines above the header as they stand; a byte-order mark is the first of their bytes. */
  readonly aboveHeader: Uint8Array;
  /** The lines below the last row as they stand; nothing before they were read. */
  readonly footer: () => Uint8Array;
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
  readonly above: HeaderDetection;
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
    reader: FooterReader,
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
      footer: () => reader.footer,
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

/** Carries bytes from a reader through a scanner; iterated, it gives the chunks once. */
class CsvFeed implements AsyncIterableIterator<CsvChunk> {
  readonly #reader: FooterReader;
  readonly #scanner: CsvScanner;
  readonly #hash = createHash('sha256');
  #digest: string | undefined;
  /** Rows that came with the header. */
  #ahead: CsvChunk | undefined;
  #isClosed = false;

  /** @param before bytes of the input that were read before */
  constructor(reader: FooterReader, scanner: CsvScanner, before: Uint8Array) {
    this.#reader = reader;
    this.#scanner = scanner;
    this.#hash.update(before);
  }

  /** Reads as far as the first row. */
  async readHead(): Promise<CsvHead> {
    for (;;) {
      this.#ahead = await this.#step();
      const { head } = this.#scanner;
      if (head !== undefined) return head;
    }
  }

  /** SHA-256 of all bytes, once the end was reached. */
  get digest(): string | undefined {
    return this.#digest;
  }

  async next(): Promise<IteratorResult<CsvChunk, undefined>> {
    let value = this.#ahead;
    this.#ahead = undefined;
    while (value === undefined && !this.#isClosed) value = await this.#step();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  }

  async return(): Promise<IteratorResult<CsvChunk, undefined>> {
    await this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#ahead = undefined;
    await this.#reader.close();
  }

  /** Scans one piece more. Closes at the end, and when it fails. */
  async #step(): Promise<CsvChunk | undefined> {
    try {
      const piece = await this.#reader.read();
      if (piece !== undefined) {
        this.#hash.update(piece);
        return this.#scanner.feed(piece);
      }
      const last = this.#scanner.end();
      this.#digest = this.#hash.update(this.#reader.footer).digest('hex');
      await this.#reader.close();
      this.#isClosed = true;
      return last;
    } catch (error) {
      await this.close();
      throw error;
    }
  }
}
