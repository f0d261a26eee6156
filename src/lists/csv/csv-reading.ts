import type { PeekReader } from '../files/bytes/byte-reader.js';
import { markBytesOf } from '../files/file-signature.js';
import { closableChunks } from '../rows/chunks/row-chunk.js';
import type { OpenSourceOptions, SourceReading } from '../rows/source.js';
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

  private constructor(header: readonly string[], form: CsvForm, chunks: AsyncIterable<CsvChunk>) {
    this.header = header;
    this.isUnnamed = form.headerBytes === undefined;
    this.form = form;
    this.chunks = chunks;
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
    let isOver = false;
    const step = async (): Promise<CsvChunk | undefined> => {
      const piece = await reader.read();
      isOver = piece === undefined;
      return piece === undefined ? scanner.end() : scanner.feed(piece);
    };
    /** Rows that came with the header. */
    let ahead: CsvChunk | undefined;
    let head: CsvHead | undefined;
    try {
      while (head === undefined) {
        ahead = await step();
        ({ head } = scanner);
      }
    } catch (error) {
      await reader.close();
      throw error;
    }
    const rows = async function* (): AsyncGenerator<CsvChunk> {
      if (ahead) yield ahead;
      ahead = undefined;
      while (!isOver) {
        const chunk = await step();
        if (chunk) yield chunk;
      }
    };
    const form = {
      aboveHeader: above.bytes,
      footer: () => reader.footer,
      headerBytes: head.bytes,
      hasMark: head.markBytes > 0 || markBytesOf(above.bytes) > 0,
      lineEnd: head.lineEnd,
      delimiter,
      isBare: false,
      isTsv,
      isTxt,
    };
    return new CsvReading(
      head.names,
      form,
      closableChunks(rows(), async () => reader.close()),
    );
  }
}
