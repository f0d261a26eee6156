import { lineEnd, type Lines } from '../files/bytes/line-feed.js';
import { type CellText, invalidText, type RowChunk } from '../rows/chunks/row-chunk.js';
import { textOfValue } from '../rows/values/print-value.js';
import { type JsonColumn, type JsonColumns, valueAt } from './json-columns.js';
import { hasOddNumber, type JsonRow, parseJsonRow } from './parse-json-row.js';

export interface JsonlHeader {
  readonly name: string;
  /** In the header's order. */
  readonly columns: readonly JsonColumn[];
  readonly known: JsonColumns;
  /** Of the chunk that is being read alone: its rows are asked for again and again, and are large. */
  parsed?: { readonly chunk: JsonlChunk; readonly rows: JsonRow[] };
}

/** Rows of a JSONL file: their own bytes, parsed when a cell is read. */
export class JsonlChunk implements RowChunk {
  readonly length: number;
  readonly byteSize: number;
  /** Bytes that the bounds refer to; never overwritten. */
  readonly bytes: Buffer;
  readonly #header: JsonlHeader;
  /** For each row its line's start, the next line's start, and the line's number. */
  readonly #rows: Uint32Array;
  readonly #firstLine: number;
  /** The latest row: cells are read row by row. */
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
    const path = this.path(column);
    const value = valueAt(this.row(row), path);
    if (typeof value !== 'number' && typeof value !== 'object') return value;
    return value === null ? null : valueAt(this.#exactRow(row), path);
  }

  path(column: number): readonly string[] {
    const found = this.#header.columns[column];
    if (found === undefined) throw new RangeError(`there is no column ${String(column)}`);
    return found.path;
  }

  /** Whether an object of the row has a name twice, of which `JSON.parse` keeps the last value. */
  repeatsName(row: number): boolean {
    return countColons(this.bytes, ...this.bounds(row)) > countNames(this.row(row));
  }

  json(row: number): string {
    return this.bytes.toString('utf8', ...this.bounds(row));
  }

  unlisted(row: number): string | undefined {
    return this.#header.known.unlisted(this.row(row));
  }

  row(row: number): JsonRow {
    if (this.#header.parsed?.chunk !== this) this.#header.parsed = { chunk: this, rows: [] };
    return (this.#header.parsed.rows[row] ??= this.#parse(row, true));
  }

  /** The same with numbers as written: readers of text alone need not wait for it. */
  #exactRow(row: number): JsonRow {
    if (this.#exact?.row !== row) {
      const isExact = !hasOddNumber(this.json(row));
      this.#exact = { row, value: isExact ? this.row(row) : this.#parse(row, false) };
    }
    return this.#exact.value;
  }

  #parse(row: number, isRounded: boolean): JsonRow {
    const [start, next] = this.bounds(row);
    const bytes = this.bytes.subarray(start, next);
    const at = { name: this.#header.name, line: this.line(row) };
    return parseJsonRow(bytes, at, isRounded) ?? {};
  }

  line(row: number): number {
    return this.#firstLine + (this.#rows[3 * row + 2] as number);
  }

  bounds(row: number): readonly [start: number, next: number] {
    if (!(row >= 0 && row < this.length)) throw new RangeError(`there is no row ${String(row)}`);
    return [this.#rows[3 * row] as number, this.#rows[3 * row + 1] as number];
  }
}

/** Lines of white space are not rows. */
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

/** Each name has one after it. */
function countColons(json: Uint8Array, from: number, to: number): number {
  let count = 0;
  let isInString = false;
  for (let at = from; at < to; at += 1) {
    const byte = json[at];
    if (byte === 0x22) isInString = !isInString;
    else if (byte === 0x5c) at += 1;
    else if (byte === 0x3a && !isInString) count += 1;
  }
  return count;
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const values: readonly unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : values.length;
  return values.reduce((sum: number, each) => sum + countNames(each), own);
}
