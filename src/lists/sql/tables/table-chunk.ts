import { isUtf8 } from 'node:buffer';
import { lineEnd, type Lines } from '../../files/bytes/line-feed.js';
import {
  invalidText,
  type CellText,
  type RawCells,
  type RowChunk,
} from '../../rows/chunks/row-chunk.js';
import { readText, valueOfText } from '../cell-text.js';
import type { TableColumn, TableForm } from './table-form.js';

const tabByte = 0x09;
const escapeByte = 0x5c;
/** Kinds whose cells may be written otherwise than as their text. */
const writtenOtherwise: ReadonlySet<TableColumn['kind'] | undefined> = new Set([
  'any',
  'binary',
  'boolean',
  'float32',
  'float64',
]);

/** Some rows of a database, a line each in the form of `cell-text.ts`. */
export class TableChunk implements RowChunk, RawCells {
  readonly raw: RawCells = this;
  readonly length: number;
  readonly byteSize: number;
  readonly form: TableForm;
  readonly bytes: Buffer;
  readonly #starts: Uint32Array;
  /** A database without an encoding gives the bytes it was given. */
  readonly #isText: boolean;
  /** The cell found last, and its bounds: cells are asked for row by row, mostly from left to right. */
  #row = -1;
  #column = 0;
  #start = 0;
  #end = 0;

  /** @param first the first of the lines that is a row */
  constructor(lines: Lines, form: TableForm, first = 0) {
    this.form = form;
    this.bytes = lines.bytes;
    this.#starts = lines.starts.subarray(first);
    this.#isText = isUtf8(lines.bytes);
    this.length = this.#starts.length - 1;
    this.byteSize = lines.bytes.length + this.#starts.byteLength;
  }

  /** Where the row's bytes start in `bytes`. */
  rowStart(row: number): number {
    const start = this.#starts[row];
    if (start === undefined || row >= this.length) throw new RangeError(`there is no row ${row}`);
    return start;
  }

  /** Where the row's bytes end, its line end left out. */
  rowEnd(row: number): number {
    return lineEnd(this.bytes, this.rowStart(row), this.#starts[row + 1] as number);
  }

  /** Whether all of the row is text, whatever its cells mean. */
  isText(row: number): boolean {
    return this.#isText || isUtf8(this.#line(row));
  }

  /** The cell as it stands between the tabs; `undefined` where the row has none. */
  field(row: number, column: number): string | undefined {
    if (!this.#find(row, column)) return undefined;
    return this.bytes.toString('utf8', this.#start, this.#end);
  }

  cellStart(row: number, column: number): number {
    this.#mustFind(row, column);
    return this.#start;
  }

  /** A cell that is not what its bytes are ends before it starts: its text says what it is. */
  cellEnd(row: number, column: number): number {
    this.#mustFind(row, column);
    if (writtenOtherwise.has(this.form.columns[column]?.kind)) return this.#start - 1;
    for (let at = this.#start; at < this.#end; at += 1) {
      if (this.bytes[at] === escapeByte) return this.#start - 1;
    }
    return this.#end;
  }

  text(row: number, column: number): CellText {
    const value = this.#cell(row, column);
    if (value === null || value === undefined) return undefined;
    switch (typeof value) {
      case 'string':
        return value;
      case 'symbol':
        return invalidText;
      case 'number':
      case 'bigint':
      case 'boolean':
        return String(value);
      default:
        return readText(this.field(row, column) ?? '');
    }
  }

  value(row: number, column: number): unknown {
    return this.#cell(row, column);
  }

  cells(row: number): readonly unknown[] {
    return this.form.columns.map((_, column) => this.#cell(row, column));
  }

  #cell(row: number, column: number): unknown {
    const found = this.form.columns[column];
    const field = this.field(row, column);
    if (found === undefined || field === undefined) throw new RangeError(noColumn(row, column));
    // The sign that stands for broken bytes may be a character of the text as well.
    if (!this.#isText && field.includes('\ufffd') && !isUtf8(this.#line(row))) return invalidText;
    const { kind: name, scale } = found;
    return valueOfText({ name, ...(scale !== undefined && { scale }) }, readText(field));
  }

  #line(row: number): Buffer {
    return this.bytes.subarray(this.rowStart(row), this.rowEnd(row));
  }

  #mustFind(row: number, column: number): void {
    if (!this.#find(row, column)) throw new RangeError(noColumn(row, column));
  }

  /** @returns whether the row has the cell, whose bounds are known then */
  #find(row: number, column: number): boolean {
    if (row === this.#row && column === this.#column) return true;
    const { bytes } = this;
    const end = this.rowEnd(row);
    const isAhead = row === this.#row && column > this.#column;
    let at = isAhead ? this.#end + 1 : this.rowStart(row);
    for (let left = column - (isAhead ? this.#column + 1 : 0); left > 0; at += 1) {
      if (at >= end) return false;
      if (bytes[at] === tabByte) left -= 1;
    }
    // Behind the last tab there is one more cell, if an empty one.
    if (at > end) return false;
    this.#row = row;
    this.#column = column;
    this.#start = at;
    while (at < end && bytes[at] !== tabByte) at += 1;
    this.#end = at;
    return true;
  }
}

function noColumn(row: number, column: number): string {
  return `there is no column ${column} in row ${row}`;
}
