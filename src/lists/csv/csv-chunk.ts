import { isAscii, isUtf8 } from 'node:buffer';
import type { CellText, RawCells, RowChunk } from '../rows/chunks/row-chunk.js';
import { quoteByte, decodeCell, findCells, type KnownText } from './csv-format.js';

/** The columns of an input: their number, and which have their cells located ahead. */
export interface CsvColumns {
  readonly count: number;
  readonly delimiter: number;
  /** For each column its slot in the row table, or -1. */
  readonly slots: Int32Array;
  readonly wanted: number;
}

/**
 * The row table holds, for each row: where it starts, where it ends without its line end, how many
 * cells it lacks, and start and end of each wanted cell. One number more follows the last row: where
 * that row's line end ends. A wanted cell that the row lacks starts after its end.
 */
export function rowStride(wanted: number): number {
  return 3 + 2 * wanted;
}

/** Rows of a CSV file: their own bytes, with the bounds of rows and wanted cells. */
export class CsvChunk implements RowChunk, RawCells {
  readonly raw: RawCells = this;
  readonly length: number;
  readonly byteSize: number;
  /** Bytes that the bounds refer to; not written to before the chunk is released. */
  readonly bytes: Buffer;
  readonly #columns: CsvColumns;
  readonly #table: Uint32Array;
  readonly #stride: number;
  /** Length of a byte-order mark before the first cell. */
  readonly markBytes: number;
  #known: KnownText | undefined;
  #onRelease: (() => void) | undefined;
  readonly #firstNumber: number;

  constructor(
    bytes: Buffer,
    table: Uint32Array,
    columns: CsvColumns,
    markBytes = 0,
    onRelease?: () => void,
    firstNumber = 1,
  ) {
    this.bytes = bytes;
    this.#columns = columns;
    this.#table = table;
    this.#stride = rowStride(columns.wanted);
    this.markBytes = markBytes;
    this.length = (table.length - 1) / this.#stride;
    this.byteSize = bytes.length + table.byteLength;
    this.#onRelease = onRelease;
    this.#firstNumber = firstNumber;
  }

  number(row: number): number {
    return this.#firstNumber + row;
  }

  get delimiter(): number {
    return this.#columns.delimiter;
  }

  text(row: number, column: number): CellText {
    const at = this.#boundsAt(row, column);
    // Not located ahead, but correct all the same.
    if (at === -1) return this.cells(row)[column];
    const start = this.#table[at] as number;
    const end = this.#table[at + 1] as number;
    if (start > end) return undefined;
    return decodeCell(this.bytes, start, end, this.#knownText());
  }

  cellStart(row: number, column: number): number {
    const at = this.#boundsAt(row, column);
    if (at === -1) return 1;
    const start = this.#table[at] as number;
    return this.bytes[start] === quoteByte ? start + 1 : start;
  }

  cellEnd(row: number, column: number): number {
    const at = this.#boundsAt(row, column);
    if (at === -1) return 0;
    const end = this.#table[at + 1] as number;
    return this.bytes[this.#table[at] as number] === quoteByte ? end - 1 : end;
  }

  /** All cells of a row, parsed again; `undefined` for missing ones. */
  cells(row: number): CellText[] {
    const start = this.rowStart(row) + (row === 0 ? this.markBytes : 0);
    const bounds = findCells(this.bytes, start, this.rowEnd(row), this.delimiter);
    const known = this.#knownText();
    return Array.from({ length: this.#columns.count }, (_, column) => {
      const [from, to] = [bounds[2 * column], bounds[2 * column + 1]];
      if (from === undefined || to === undefined) return undefined;
      return decodeCell(this.bytes, from, to, known);
    });
  }

  release(): void {
    this.#onRelease?.();
    this.#onRelease = undefined;
  }

  rowStart(row: number): number {
    this.#check(row);
    return this.#table[row * this.#stride] as number;
  }

  rowEnd(row: number): number {
    this.#check(row);
    return this.#table[row * this.#stride + 1] as number;
  }

  lineEnd(row: number): number {
    this.#check(row);
    return this.#table[(row + 1) * this.#stride] as number;
  }

  /** How many cells the row has fewer than the header. */
  missingCells(row: number): number {
    this.#check(row);
    return this.#table[row * this.#stride + 2] as number;
  }

  /** Where the bounds of a cell are in the table; -1 where it was not located. */
  #boundsAt(row: number, column: number): number {
    this.#check(row);
    const slot = this.#columns.slots[column];
    if (slot === undefined) throw new RangeError(`there is no column ${String(column)}`);
    if (slot === -1) return -1;
    return row * this.#stride + 3 + 2 * slot;
  }

  /** One check of the whole chunk replaces hundreds of cells. */
  #knownText(): KnownText {
    if (this.#known === undefined) {
      const rows = this.bytes.subarray(this.#table[0]);
      this.#known = isAscii(rows) ? 'ascii' : isUtf8(rows) ? 'utf8' : 'unknown';
    }
    return this.#known;
  }

  #check(row: number): void {
    if (!(row >= 0 && row < this.length)) throw new RangeError(`there is no row ${String(row)}`);
  }
}
