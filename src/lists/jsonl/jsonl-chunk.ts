import { invalidText, type CellText, type RowChunk } from '../rows/chunks/row-chunk.js';
import { textOfValue } from '../rows/values/text-of-value.js';
import { valueAt, type JsonColumn, type JsonColumns } from './json-columns.js';
import { lineEnd, type Lines } from '../files/bytes/line-feed.js';
import { parseJsonRow, type JsonRow } from './parse-json-row.js';

/** What the rows of a JSONL chunk are read with. */
export interface JsonlHeader {
  /** How messages call the input. */
  readonly name: string;
  /** In the header's order. */
  readonly columns: readonly JsonColumn[];
  readonly known: JsonColumns;
}

/** Some rows of a JSONL file: their own bytes, parsed when a cell is asked for. */
export class JsonlChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  /** Bytes that the bounds point into; they are not written to again. */
  readonly bytes: Buffer;
  readonly #header: JsonlHeader;
  /** For each row its line's start, where its next line starts, and the line's number. */
  readonly #rows: Uint32Array;
  readonly #firstLine: number;
  /** The row parsed last: cells are asked for row by row. */
  #parsed: { readonly row: number; readonly value: JsonRow } | undefined;
  #exact: { readonly row: number; readonly value: JsonRow } | undefined;

  constructor(lines: Lines, header: JsonlHeader) {
    this.bytes = lines.bytes;
    this.#header = header;
    this.#firstLine = lines.firstLine;
    this.#rows = findRows(lines);
    this.length = this.#rows.length / 3;
    this.byteSize = lines.bytes.length + this.#rows.byteLength;
  }

  text(row: number, column: number): CellText {
    const value = this.value(row, column);
    return value === invalidText ? value : textOfValue(value);
  }

  value(row: number, column: number): unknown {
    const found = this.#header.columns[column];
    if (found === undefined) throw new RangeError(`there is no column ${String(column)}`);
    const value = valueAt(this.row(row), found.path);
    if (typeof value !== 'number' && typeof value !== 'object') return value;
    return value === null ? null : valueAt(this.#exactRow(row), found.path);
  }

  unlisted(row: number): string | undefined {
    return this.#header.known.unlisted(this.row(row));
  }

  /** @throws InputError `input_malformed` */
  row(row: number): JsonRow {
    if (this.#parsed?.row !== row) this.#parsed = { row, value: this.#parse(row, true) };
    return this.#parsed.value;
  }

  /** The same with numbers as they are written: who asks for texts alone need not wait for it. */
  #exactRow(row: number): JsonRow {
    if (this.#exact?.row !== row) this.#exact = { row, value: this.#parse(row, false) };
    return this.#exact.value;
  }

  #parse(row: number, isRounded: boolean): JsonRow {
    const [start, next] = this.bounds(row);
    const line = this.#firstLine + (this.#rows[3 * row + 2] as number);
    const bytes = this.bytes.subarray(start, next);
    return parseJsonRow(bytes, { name: this.#header.name, line }, isRounded) ?? {};
  }

  /** Where the row's line starts, and where the next one does. */
  bounds(row: number): readonly [start: number, next: number] {
    if (!(row >= 0 && row < this.length)) throw new RangeError(`there is no row ${String(row)}`);
    return [this.#rows[3 * row] as number, this.#rows[3 * row + 1] as number];
  }
}

/** Lines of nothing but white space are no rows. */
function findRows({ bytes, starts }: Lines): Uint32Array {
  const rows = new Uint32Array(3 * (starts.length - 1));
  let used = 0;
  for (let line = 0; line < starts.length - 1; line += 1) {
    const [start, next] = [starts[line] as number, starts[line + 1] as number];
    if (isBlank(bytes, start, lineEnd(bytes, start, next))) continue;
    rows.set([start, next, line], used);
    used += 3;
  }
  return rows.slice(0, used);
}

function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}
