import { createHash, type Hash } from 'node:crypto';
import type { PeekReader } from '../files/bytes/byte-reader.js';
import { markBytesOf } from '../files/file-signature.js';
import { closableChunks } from '../rows/chunks/row-chunk.js';
import { digestAtEnd, type OpenSourceOptions, type SourceReading } from '../rows/source.js';
import type { CsvChunk } from './csv-chunk.js';
import { parseDelimiter, type CsvForm, type CsvHead } from './csv-format.js';
import { CsvScanner } from './csv-scanner.js';
import { type CsvDialect, type CsvInput, firstLineEnd } from './dialect/find-dialect.js';
import { FooterReader } from './dialect/footer-reader.js';
import { mostLookedAt, readToHeader, type CsvTable } from './dialect/header-detection.js';
import { withoutMissingHeader } from './dialect/find-header-row.js';
import { ParsedCsvReading } from './parsed-csv-reading.js';

/**
 * Opens CSV or TSV in UTF-8: with the byte scanner for the usual dialect, with csv-parse for any other.
 *
 * @throws InputError, ConfigurationError; errors of `wanted`
 */
export async function openCsv(
  reader: PeekReader,
  input: CsvInput,
  given: OpenSourceOptions,
): Promise<SourceReading> {
  const opening = withoutMissingHeader(given, input.name, input);
  const found = await readToHeader(reader, input);
  const { above, dialect } = found;
  if (above.isGuessed) {
    opening.onHeaderFound?.({ input: input.name, unit: 'line', number: above.lines + 1 });
  }
  const table = { ...found, isTsv: input.isTxt ? dialect.delimiter === '\t' : input.isTsv };
  const rows = new FooterReader(reader, table, opening);
  if (isScannable(dialect)) return CsvReading.open(rows, table, opening);
  const lineEnd = firstLineEnd(
    (await reader.peekLine(mostLookedAt)).subarray(0, mostLookedAt),
    dialect,
  );
  return ParsedCsvReading.open(rows, { ...table, lineEnd }, opening);
}

/** What the byte scanner handles: double quotes, doubled inside, and a delimiter of one byte. */
function isScannable({ delimiter, quote, escape }: CsvDialect): boolean {
  return quote === '"' && escape === '"' && /^[\t !#-~]$/.test(delimiter);
}

export function csvFormOf(reading: SourceReading): CsvForm | undefined {
  const isCsv = reading instanceof CsvReading || reading instanceof ParsedCsvReading;
  return isCsv ? reading.form : undefined;
}

/** One reading of a CSV input whose rows keep their own bytes. */
export class CsvReading implements SourceReading<CsvChunk> {
  readonly header: readonly string[];
  readonly isUnnamed: boolean;
  readonly form: CsvForm;
  readonly chunks: AsyncIterable<CsvChunk>;
  readonly #rows: ScannedRows;

  private constructor(rows: ScannedRows, { names }: CsvHead, form: CsvForm) {
    this.header = names;
    this.isUnnamed = form.headerBytes === undefined;
    this.form = form;
    this.chunks = closableChunks(rows.chunks(), () => rows.close());
    this.#rows = rows;
  }

  /**
   * Reads up to the first row; closes `reader` when that fails.
   *
   * @throws ConfigurationError `invalid_option`; InputError `input_unreadable`, `input_malformed`; what
   * `wanted` throws
   */
  static async open(
    reader: FooterReader,
    { name, header = true, maxRowBytes, above, dialect, isTsv, isTxt }: CsvTable,
    opening: OpenSourceOptions,
  ): Promise<CsvReading> {
    const { delimiter } = dialect;
    const scanner = new CsvScanner({
      name,
      delimiter: parseDelimiter(delimiter),
      hasHeader: header,
      maxRowBytes,
      firstLine: above.lines + 1,
      wanted: (names) => opening.wanted(names),
    });
    const rows = new ScannedRows(reader, scanner, above.bytes);
    const head = await rows.readHead();
    return new CsvReading(rows, head, {
      aboveHeader: above.bytes,
      footer: () => reader.footer,
      headerBytes: head.bytes,
      hasMark: head.markBytes > 0 || markBytesOf(above.bytes) > 0,
      lineEnd: head.lineEnd,
      delimiter,
      isBare: false,
      isTsv,
      isTxt,
    });
  }

  contentDigest(): string {
    return digestAtEnd(this.#rows.digest);
  }
}

/** Passes bytes from a reader through a scanner. */
class ScannedRows {
  readonly #reader: FooterReader;
  readonly #scanner: CsvScanner;
  readonly #hash: Hash;
  /** Of the whole input, once it is read. */
  digest: string | undefined;
  /** Rows that came with the header. */
  #ahead: CsvChunk | undefined;

  /** @param before bytes of the input read before */
  constructor(reader: FooterReader, scanner: CsvScanner, before: Uint8Array) {
    this.#reader = reader;
    this.#scanner = scanner;
    this.#hash = createHash('sha256').update(before);
  }

  async readHead(): Promise<CsvHead> {
    try {
      for (;;) {
        this.#ahead = await this.#step();
        const { head } = this.#scanner;
        if (head !== undefined) return head;
      }
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async *chunks(): AsyncGenerator<CsvChunk> {
    for (let chunk = this.#ahead; ; chunk = await this.#step()) {
      this.#ahead = undefined;
      if (chunk) yield chunk;
      if (this.digest !== undefined) return;
    }
  }

  async #step(): Promise<CsvChunk | undefined> {
    const piece = await this.#reader.read();
    if (piece !== undefined) {
      this.#hash.update(piece);
      return this.#scanner.feed(piece);
    }
    const last = this.#scanner.end();
    this.digest = this.#hash.update(this.#reader.footer).digest('hex');
    return last;
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}
