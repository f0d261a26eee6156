import type { ByteOutput } from '../files/outputs/byte-output.js';
import type { OpenSinkOptions } from '../rows/sink.js';
import type { SourceReading } from '../rows/source.js';
import { CsvChunk } from './csv-chunk.js';
import { parseDelimiter } from './dialect/csv-dialect.js';
import { CsvReading } from './csv-reading.js';
import { quoteCell } from './csv-text.js';
import { CsvWriter } from './csv-writer.js';
import { markBytesOf } from '../files/file-signature.js';
import { TxtReading } from '../text/txt-reading.js';
import { XlsxReading } from '../xlsx/open-xlsx.js';
import { ParsedCsvReading } from './parsed-csv-reading.js';
import type { RowsWriter } from '../files/rows-writer.js';
import { TableRows } from '../rows/chunks/table-rows.js';
import type { FormatWriting } from '../files/writer-sink.js';

/** What `FileSinkOptions` say of CSV. */
interface CsvWritingOptions {
  readonly delimiter?: string | undefined;
  readonly neutralizeFormulas?: boolean | undefined;
}

/** What is wanted of a CSV output beside its options. */
export interface CsvForms {
  /** Whether lines above the input's header are left out, which a loader of tables has no use for. */
  readonly isBareTable?: boolean;
}

/** How rows are written as CSV. */
export function csvWriting(options: CsvWritingOptions & CsvForms): FormatWriting {
  return {
    create: (output, opening) => createCsvWriter(output, opening, options),
    cellForm(reading) {
      const delimiter = delimiterFor(reading, options.delimiter);
      return { delimiter, quote: isBare(reading, delimiter) ? null : '"' };
    },
    examine(reading) {
      const byte = parseDelimiter(delimiterFor(reading, options.delimiter));
      const rows = new TableRows(reading.header.length);
      return (chunk) => {
        // Rows that are copied need no form.
        if (chunk instanceof CsvChunk && chunk.delimiter === byte) return;
        for (let row = 0; row < chunk.length; row += 1) rows.read(chunk, row);
      };
    },
  };
}

function createCsvWriter(
  output: ByteOutput,
  opening: OpenSinkOptions,
  options: CsvWritingOptions & CsvForms,
): RowsWriter {
  const { reading, added } = opening;
  const delimiter = delimiterFor(reading, options.delimiter);
  return new CsvWriter({
    output,
    delimiter,
    header: headerFor(reading, delimiter),
    aboveHeader: options.isBareTable === true ? undefined : linesAboveFor(reading, delimiter),
    columns: reading.header.length,
    added: added.map((columns) => columns.map(({ name }) => name)),
    cellsOf: (outcome, column) => opening.cellsOf(outcome, column),
    neutralizeFormulas: options.neutralizeFormulas ?? false,
    isBare: isBare(reading, delimiter),
  });
}

/** A dialect without quotes is kept, or each quote in a cell would come out as two. */
function isBare(reading: SourceReading, delimiter: string): boolean {
  return (
    reading instanceof ParsedCsvReading &&
    reading.dialect.quote === undefined &&
    reading.dialect.delimiter === delimiter
  );
}

function delimiterFor(reading: SourceReading, given: string | undefined): string {
  if (given !== undefined) return given;
  const own = reading.first ?? reading;
  if (own instanceof CsvReading) return own.form.isTsv ? ',' : own.form.delimiter;
  if (own instanceof ParsedCsvReading && !own.isTsv) {
    const { delimiter } = own.dialect;
    if (isWritable(delimiter)) return delimiter;
  }
  return ',';
}

/** Whether it is one ASCII character that may be written between cells. */
function isWritable(delimiter: string): boolean {
  return delimiter.length === 1 && delimiter !== '"' && delimiter <= '~';
}

const byteOrderMark = Buffer.from('\ufeff');

/**
 * The lines above a CSV input's header go where its delimiter does. From a workbook, and from text that
 * has one, a byte-order mark goes there: whoever has it opens the output in Excel, which takes UTF-8
 * without a mark for something else.
 */
function linesAboveFor(reading: SourceReading, delimiter: string): Uint8Array | undefined {
  const own = reading.first ?? reading;
  if (own instanceof XlsxReading) return byteOrderMark;
  if (own instanceof TxtReading) return own.hasMark ? byteOrderMark : undefined;
  if (own instanceof CsvReading) {
    const { aboveHeader, hasMark, delimiter: same } = own.form;
    if (same === delimiter && own === reading) return aboveHeader;
    // In a header or a first row that is copied the mark is one of its bytes.
    const isCopied =
      same === delimiter && aboveHeader.length === 0 && own.header.length === reading.header.length;
    return hasMark && !isCopied ? byteOrderMark : undefined;
  }
  if (!(own instanceof ParsedCsvReading)) return undefined;
  if (own === reading && own.dialect.delimiter === delimiter) return own.aboveHeader;
  return markBytesOf(own.aboveHeader) > 0 ? byteOrderMark : undefined;
}

/** The delimiter of an input that is a table under a name that ends in .txt. */
export function txtTableDelimiter(reading: SourceReading): string | undefined {
  if (reading instanceof CsvReading) {
    return reading.form.isTxt ? reading.form.delimiter : undefined;
  }
  if (!(reading instanceof ParsedCsvReading) || !reading.isTxt) return undefined;
  const { delimiter } = reading.dialect;
  return isWritable(delimiter) ? delimiter : '\t';
}

/** A CSV input's own header row, as it stands; the names of any other input, written again. */
function headerFor(
  reading: SourceReading,
  delimiter: string,
): { bytes: Uint8Array; lineEnd: Uint8Array } | undefined {
  if (reading.isUnnamed === true) return undefined;
  const own = reading.first ?? reading;
  const isWhole = own.header.length === reading.header.length;
  if (own instanceof CsvReading && isWhole && own.form.delimiter === delimiter) {
    const { headerBytes, lineEnd } = own.form;
    return headerBytes && { bytes: headerBytes, lineEnd };
  }
  const names = reading.header.map((name) => quoteCell(name, delimiter));
  return { bytes: Buffer.from(names.join(delimiter)), lineEnd: Buffer.from('\n') };
}
