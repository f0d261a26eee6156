import { isUtf8 } from 'node:buffer';
import { lineEnd, type Lines } from '../formats/line-feed.js';
import { invalidText, type CellText, type RowChunk } from '../rows/row-chunk.js';
import { readText, valueOfText } from './cell-text.js';
import type { TableForm } from './table-form.js';

/** Some rows of a database, a line each in the form of `cell-text.ts`. */
export class TableChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  readonly form: TableForm;
  readonly #bytes: Buffer;
  readonly #starts: Uint32Array;
  /** A database without an encoding gives the bytes it was given. */
  readonly #isText: boolean;
  /** The row taken apart last: cells are asked for row by row. */
  #parted: { readonly row: number; readonly fields: readonly string[] } | undefined;

  /** @param first the first of the lines that is a row */
  constructor(lines: Lines, form: TableForm, first = 0) {
    this.form = form;
    this.#bytes = lines.bytes;
    this.#starts = lines.starts.subarray(first);
    this.#isText = isUtf8(lines.bytes);
    this.length = this.#starts.length - 1;
    this.byteSize = lines.bytes.length + this.#starts.byteLength;
  }

  /** The row as it stands, without its line end. */
  line(row: number): Buffer {
    const start = this.#starts[row];
    const next = this.#starts[row + 1];
    if (start === undefined || next === undefined) throw new RangeError(`there is no row ${row}`);
    return this.#bytes.subarray(start, lineEnd(this.#bytes, start, next));
  }

  /** Whether all of the row is text, whatever its cells mean. */
  isText(row: number): boolean {
    return this.#isText || isUtf8(this.line(row));
  }

  /** The cells as they stand between the tabs. */
  fields(row: number): readonly string[] {
    if (this.#parted?.row !== row) {
      this.#parted = { row, fields: this.line(row).toString('utf8').split('\t') };
    }
    return this.#parted.fields;
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
        return readText(this.fields(row)[column] ?? '');
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
    const field = this.fields(row)[column];
    if (found === undefined || field === undefined) {
      throw new RangeError(`there is no column ${column} in row ${row}`);
    }
    // The sign that stands for broken bytes may be a character of the text as well.
    if (!this.#isText && field.includes('\ufffd') && !isUtf8(this.line(row))) return invalidText;
    const { kind: name, scale } = found;
    return valueOfText({ name, ...(scale !== undefined && { scale }) }, readText(field));
  }
}
