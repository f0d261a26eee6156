import { BlockOutput, type ByteOutput } from '../files/outputs/byte-output.js';
import { markBytesOf } from '../files/file-signature.js';
import { OutcomeForms, type RowsWriter } from '../files/rows-writer.js';
import type { FormatWriting } from '../files/writer-sink.js';
import { TableRows } from '../rows/chunks/table-rows.js';
import type { JoinedRows, OpenSinkOptions, OutputCell } from '../rows/sink.js';
import type { SourceReading } from '../rows/source.js';
import { printValue } from '../rows/values/print-value.js';
import { TxtReading } from '../text/txt.js';
import { XlsxReading } from '../xlsx/xlsx-reading.js';
import { CsvChunk } from './csv-chunk.js';
import {
  cellText,
  lineFeedByte,
  neutralizeFormula,
  parseDelimiter,
  quoteCell,
} from './csv-format.js';
import { CsvReading } from './csv-reading.js';
import { ParsedCsvReading } from './parsed-csv-reading.js';

export interface CsvWriterOptions {
  readonly output: ByteOutput;
  readonly delimiter: string;
  /** The input's header row as it is to be written, and its line end; `undefined` for none. */
  readonly header: { readonly bytes: Uint8Array; readonly lineEnd: Uint8Array } | undefined;
  /** What is written before everything else. @default nothing */
  readonly aboveHeader?: Uint8Array | undefined;
  /** What is written after the last row, when that is. @default nothing */
  readonly footer?: (() => Uint8Array) | undefined;
  /** Number of the input's columns. */
  readonly columns: number;
  /**
   * Whether quotes are characters like any other, and no cell holds a delimiter or a line end.
   * @default false
   */
  readonly isBare?: boolean;
  /** Names of the columns to add, for each verified column. */
  readonly added: readonly (readonly string[])[];
  /** Cells to add for an outcome in the k-th verified column. */
  cellsOf(outcome: number, column: number): readonly OutputCell[];
  /** Whether text in the added cells is kept from being a formula in a spreadsheet. */
  readonly neutralizeFormulas: boolean;
}

/**
 * Writes joined rows as CSV. The rows of a CSV input with the same delimiter are copied as they stand;
 * behind each go its new cells, prepared once for each outcome.
 */
export class CsvWriter {
  readonly givesBack = true;
  readonly #options: CsvWriterOptions;
  readonly #rows: TableRows;
  readonly #delimiterByte: number;
  readonly #lineEnd: Uint8Array;
  /** New cells as they stand in the output, a delimiter in front of each. */
  readonly #suffixes: OutcomeForms<Buffer>;
  readonly #out: BlockOutput;
  #hasRows = false;
  /** The row before had no line end, as a file's last row may: one is due if another row follows. */
  #owesLineEnd = false;

  constructor(options: CsvWriterOptions) {
    const { header, added, aboveHeader = new Uint8Array(0) } = options;
    this.#options = options;
    this.#rows = new TableRows(options.columns);
    this.#delimiterByte = parseDelimiter(options.delimiter);
    this.#lineEnd = header && header.lineEnd.length > 0 ? header.lineEnd : Buffer.from('\n');
    this.#suffixes = new OutcomeForms(options, (cells) =>
      this.#encode(
        options.neutralizeFormulas ? cells.map((cell) => neutralizeFormula(cell)) : cells,
      ),
    );
    this.#out = new BlockOutput(options.output);
    if (header === undefined) {
      this.#out.put(aboveHeader);
      return;
    }
    const names = added.map((columns) => this.#encode(columns));
    this.#out.put(Buffer.concat([aboveHeader, header.bytes, ...names, header.lineEnd]));
    this.#owesLineEnd = header.lineEnd.length === 0;
  }

  /**
   * Resolves when more rows may come. What is collected goes out when a block is full, and as soon as
   * nothing else is on its way: the rows of a slow input do not wait for those behind them.
   */
  async write(rows: JoinedRows): Promise<void> {
    const { chunk, from, to } = rows;
    const isCopied = chunk instanceof CsvChunk && chunk.delimiter === this.#delimiterByte;
    let row = from;
    while (row < to) {
      row = isCopied ? this.#copyRows(chunk, rows, row) : this.#encodeRows(rows, row);
      if (row < to) await this.#out.send();
    }
    await this.#out.settle();
  }

  /** Writes what is left. */
  async end(): Promise<void> {
    this.#out.put(this.#options.footer?.() ?? new Uint8Array(0));
    await this.#out.end();
  }

  /** Copies rows from `from` on until the block is full; gives the first row that is still to be copied. */
  #copyRows(chunk: CsvChunk, rows: JoinedRows, from: number): number {
    const { outcomes, width, to } = rows;
    const source = chunk.bytes;
    for (let row = from; row < to; row += 1) {
      // A byte-order mark is the start of a file, and this row may be from the middle of the output.
      const start = chunk.rowStart(row) + (row === 0 && this.#hasRows ? chunk.markBytes : 0);
      const end = chunk.rowEnd(row);
      const next = chunk.lineEnd(row);
      const missing = chunk.missingCells(row);
      const first = (row - rows.from) * width;

      let size = next - start + missing + this.#lineEnd.length;
      for (let column = 0; column < width; column += 1) {
        size += this.#suffixes.of(column, outcomes[first + column]).length;
      }
      if (!this.#out.hasRoom(size)) return row;

      if (this.#owesLineEnd) this.#out.put(this.#lineEnd);
      const { block, filled } = this.#out;
      block.set(source.subarray(start, end), filled);
      let at = filled + end - start;
      // A short row is filled up, or the new cells would stand in the wrong columns.
      for (let cell = 0; cell < missing; cell += 1) {
        block[at] = this.#delimiterByte;
        at += 1;
      }
      for (let column = 0; column < width; column += 1) {
        const suffix = this.#suffixes.of(column, outcomes[first + column]);
        block.set(suffix, at);
        at += suffix.length;
      }
      for (let byte = end; byte < next; byte += 1) {
        block[at] = source[byte] as number;
        at += 1;
      }
      this.#out.filled = at;
      this.#hasRows = true;
      this.#owesLineEnd = source[next - 1] !== lineFeedByte;
    }
    return to;
  }

  /** The same for rows of any kind, which are written again. */
  #encodeRows(rows: JoinedRows, from: number): number {
    const { chunk, outcomes, width, to } = rows;
    for (let row = from; row < to; row += 1) {
      const cells = this.#rows.read(chunk, row);
      const texts = Array.from({ length: this.#options.columns }, (_, column) =>
        this.#quote(printValue(cells[column]) ?? ''),
      );
      const parts: Uint8Array[] = [Buffer.from(texts.join(this.#options.delimiter))];
      for (let column = 0; column < width; column += 1) {
        parts.push(this.#suffixes.of(column, outcomes[(row - rows.from) * width + column]));
      }
      const bytes = Buffer.concat([
        ...(this.#owesLineEnd ? [this.#lineEnd] : []),
        ...parts,
        this.#lineEnd,
      ]);
      if (!this.#out.hasRoom(bytes.length)) return row;
      this.#out.put(bytes);
      this.#owesLineEnd = false;
    }
    return to;
  }

  #encode(cells: readonly OutputCell[]): Buffer {
    const { delimiter } = this.#options;
    return Buffer.from(cells.map((cell) => delimiter + this.#quote(cellText(cell))).join(''));
  }

  #quote(text: string): string {
    const { delimiter, isBare = false } = this.#options;
    if (!isBare) return quoteCell(text, delimiter);
    // Only what the service says can hold one of them here.
    return text.replaceAll(/[\r\n]/g, ' ').replaceAll(delimiter, ' ');
  }
}

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

export function csvWriting(options: CsvWritingOptions & CsvForms): FormatWriting {
  return {
    create: (output, opening) => createCsvWriter(output, opening, options),
    cellForm(reading) {
      const delimiter = delimiterFor(reading, options.delimiter);
      return { delimiter, quote: isBare(reading, delimiter) ? null : '"' };
    },
    validate(reading) {
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
    footer: options.isBareTable === true ? undefined : footerFor(opening, delimiter),
    aboveHeader: options.isBareTable === true ? undefined : aboveFor(opening, delimiter),
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

/** Above the header of a new list is a byte-order mark at most. */
function aboveFor(
  { reading, isNewList = false }: OpenSinkOptions,
  delimiter: string,
): Uint8Array | undefined {
  const above = linesAboveFor(reading, delimiter);
  return isNewList ? above?.subarray(0, markBytesOf(above)) : above;
}

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

/** The lines below the last row go where those above the header go. */
function footerFor(
  { reading, isNewList = false }: OpenSinkOptions,
  delimiter: string,
): (() => Uint8Array) | undefined {
  if (isNewList) return undefined;
  const own = reading.first ?? reading;
  // A list of several has none of its own.
  if (own !== reading) return undefined;
  if (own instanceof CsvReading)
    return own.form.delimiter === delimiter ? own.form.footer : undefined;
  const isSame = own instanceof ParsedCsvReading && own.dialect.delimiter === delimiter;
  return isSame ? own.footer : undefined;
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
