import { markBytesOf } from '../files/file-signature.js';
import { BlockOutput, type ByteOutput } from '../files/outputs/byte-output.js';
import type { FormatWriting, RowsWriter } from '../files/writer-sink.js';
import { reportUnseenHalves, TableRows, tableValidator } from '../rows/chunks/table-rows.js';
import {
  type JoinedRows,
  type OpenSinkOptions,
  type OutputCell,
  OutcomeForms,
} from '../rows/sink.js';
import type { SourceReading } from '../rows/source.js';
import { printValue } from '../rows/values/print-value.js';
import { TxtReading } from '../text/txt.js';
import { isXlsxReading } from '../xlsx/xlsx-reading.js';
import { CsvChunk } from './csv-chunk.js';
import {
  cellText,
  lineFeedByte,
  neutralizeFormula,
  parseDelimiter,
  quoteCell,
} from './csv-format.js';
import { csvFormOf } from './csv-reading.js';

export interface CsvOptions {
  readonly delimiter?: string | undefined;
  /** Whether text in the added cells is kept from being a formula in a spreadsheet. */
  readonly neutralizeFormulas?: boolean | undefined;
  /** Whether lines above the input's header are left out, as loaders of tables have no use for them. */
  readonly isBareTable?: boolean;
}

interface HeaderRow {
  readonly bytes: Uint8Array;
  readonly lineEnd: Uint8Array;
}

const nothing = new Uint8Array(0);

/**
 * Writes joined rows as CSV. The rows of a CSV input with the same delimiter are copied as they are;
 * after each go its new cells, prepared once for each outcome.
 */
class CsvWriter implements RowsWriter {
  readonly givesBack = true;
  readonly #columns: number;
  readonly #rows: TableRows;
  readonly #delimiter: string;
  readonly #delimiterByte: number;
  readonly #isBare: boolean;
  readonly #lineEnd: Uint8Array;
  readonly #footer: (() => Uint8Array) | undefined;
  /** New cells as they are in the output, a delimiter in front of each. */
  readonly #suffixes: OutcomeForms<Buffer>;
  readonly #out: BlockOutput;
  #hasRows = false;
  /** The previous row had no line end, as a file's last row may: another row needs one. */
  #owesLineEnd = false;

  constructor(output: ByteOutput, opening: OpenSinkOptions, options: CsvOptions) {
    const { reading, added } = opening;
    const { neutralizeFormulas, isBareTable } = options;
    this.#columns = reading.header.length;
    this.#rows = new TableRows(this.#columns, reportUnseenHalves(opening));
    this.#delimiter = delimiterFor(reading, options.delimiter);
    this.#delimiterByte = parseDelimiter(this.#delimiter);
    this.#isBare = isBare(reading, this.#delimiter);
    const lineEnd = csvFormOf(reading.first ?? reading)?.lineEnd;
    this.#lineEnd = lineEnd && lineEnd.length > 0 ? lineEnd : Buffer.from('\n');
    const header = headerFor(reading, this.#delimiter, this.#lineEnd);
    this.#footer = isBareTable === true ? undefined : footerFor(opening, this.#delimiter);
    this.#suffixes = new OutcomeForms(opening, (cells) =>
      this.#encode(neutralizeFormulas === true ? cells.map(neutralizeFormula) : cells),
    );
    this.#out = new BlockOutput(output);
    if (isBareTable !== true) this.#out.put(aboveFor(opening, this.#delimiter));
    if (!header) return;
    const names = this.#encode(added.flat().map(({ name }) => name));
    this.#out.put(Buffer.concat([header.bytes, names, header.lineEnd]));
    this.#owesLineEnd = header.lineEnd.length === 0;
  }

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

  async end(): Promise<void> {
    this.#out.put(this.#footer?.() ?? nothing);
    await this.#out.end();
  }

  /** Copies rows from `from` on until the block is full; returns the next row to copy. */
  #copyRows(chunk: CsvChunk, rows: JoinedRows, from: number): number {
    const { outcomes, width, to } = rows;
    const source = chunk.bytes;
    for (let row = from; row < to; row += 1) {
      // A byte-order mark starts a file, and this row may be in the middle of the output.
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
      // A short row is filled up, or the new cells would be in the wrong columns.
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

  #encodeRows(rows: JoinedRows, from: number): number {
    const { chunk, outcomes, width, to } = rows;
    for (let row = from; row < to; row += 1) {
      const cells = this.#rows.read(chunk, row);
      const texts = Array.from({ length: this.#columns }, (_, column) =>
        this.#quote(printValue(cells[column]) ?? ''),
      );
      const parts: Uint8Array[] = [Buffer.from(texts.join(this.#delimiter))];
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
    return Buffer.from(cells.map((cell) => this.#delimiter + this.#quote(cellText(cell))).join(''));
  }

  #quote(text: string): string {
    if (!this.#isBare) return quoteCell(text, this.#delimiter);
    // Only the service's texts can contain one of them here.
    return text.replaceAll(/[\r\n]/g, ' ').replaceAll(this.#delimiter, ' ');
  }
}

export function csvWriting(options: CsvOptions): FormatWriting {
  return {
    create: (output, opening) => new CsvWriter(output, opening, options),
    cellForm(reading) {
      const delimiter = delimiterFor(reading, options.delimiter);
      return { delimiter, quote: isBare(reading, delimiter) ? null : '"' };
    },
    validate(reading, { onNotice }) {
      const byte = parseDelimiter(delimiterFor(reading, options.delimiter));
      const validate = tableValidator(reading, undefined, onNotice);
      return (chunk) => {
        // Copied rows need no check.
        if (!(chunk instanceof CsvChunk && chunk.delimiter === byte)) validate(chunk);
      };
    },
  };
}

/** A dialect without quotes is kept, or each quote in a cell would be doubled. */
function isBare(reading: SourceReading, delimiter: string): boolean {
  const form = csvFormOf(reading);
  return form?.isBare === true && form.delimiter === delimiter;
}

function delimiterFor(reading: SourceReading, given: string | undefined): string {
  if (given !== undefined) return given;
  const form = csvFormOf(reading.first ?? reading);
  return form && !form.isTsv && isWritable(form.delimiter) ? form.delimiter : ',';
}

/** Whether it is one ASCII character that may separate cells. */
function isWritable(delimiter: string): boolean {
  return delimiter.length === 1 && delimiter !== '"' && delimiter <= '~';
}

/** The delimiter of an input that is a table named .txt. */
export function txtTableDelimiter(reading: SourceReading): string | undefined {
  const form = csvFormOf(reading);
  if (form?.isTxt !== true) return undefined;
  return isWritable(form.delimiter) ? form.delimiter : '\t';
}

const byteOrderMark = Buffer.from('\ufeff');

/** Above the header of a new list there is at most a byte-order mark. */
function aboveFor({ reading, isNewList = false }: OpenSinkOptions, delimiter: string): Uint8Array {
  const above = linesAboveFor(reading, delimiter);
  return isNewList ? above.subarray(0, markBytesOf(above)) : above;
}

/**
 * The lines above a CSV input's header are kept with its delimiter. A workbook, or text with a byte-order
 * mark, gives the output a mark: its owner opens it in Excel, which misreads UTF-8 without one.
 */
function linesAboveFor(reading: SourceReading, delimiter: string): Uint8Array {
  const first = reading.first ?? reading;
  const form = csvFormOf(first);
  const isSame = form?.delimiter === delimiter;
  if (form && isSame && first === reading) return form.aboveHeader;
  // A copied header or first row includes the mark.
  const isCopied =
    isSame && form.aboveHeader.length === 0 && first.header.length === reading.header.length;
  const hasMark = form?.hasMark ?? (first instanceof TxtReading && first.hasMark);
  return (hasMark && !isCopied) || isXlsxReading(first) ? byteOrderMark : nothing;
}

/** The lines below the last row are kept with those above the header; several inputs have none. */
function footerFor(
  { reading, isNewList = false }: OpenSinkOptions,
  delimiter: string,
): (() => Uint8Array) | undefined {
  const form = isNewList || reading.first ? undefined : csvFormOf(reading);
  return form?.delimiter === delimiter ? form.footer : undefined;
}

/** A CSV input's own header row, as it is; the names of any other input, written again. */
function headerFor(
  reading: SourceReading,
  delimiter: string,
  lineEnd: Uint8Array,
): HeaderRow | undefined {
  if (reading.isUnnamed === true) return undefined;
  const first = reading.first ?? reading;
  const form = csvFormOf(first);
  const isCopied = form?.delimiter === delimiter && first.header.length === reading.header.length;
  if (isCopied && form.headerBytes) return { bytes: form.headerBytes, lineEnd: form.lineEnd };
  const names = reading.header.map((name) => quoteCell(name, delimiter));
  return { bytes: Buffer.from(names.join(delimiter)), lineEnd };
}
