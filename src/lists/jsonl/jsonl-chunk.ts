import { lineEnd, type Lines } from '../files/bytes/line-feed.js';
import { type CellText, invalidText, type RowChunk } from '../rows/chunks/row-chunk.js';
import { textOfValue } from '../rows/values/print-value.js';
import { isJsonObject, type JsonRow, parseJsonRow } from './parse-json-row.js';

/** A column of a JSONL file: the names that lead to its values, the outermost first. */
interface JsonColumn {
  /** The path with dots between. */
  readonly name: string;
  readonly path: readonly string[];
}

/**
 * The columns of rows that are JSON objects, in the order of their coming: a member that is an object
 * gives a column for each of its own members, and so on; lists are values.
 */
export class JsonColumns {
  readonly #columns = new Map<string, JsonColumn>();

  get all(): readonly JsonColumn[] {
    return [...this.#columns.values()];
  }

  /** Their names, in the same order. */
  get names(): readonly string[] {
    return this.all.map(({ name }) => name);
  }

  get size(): number {
    return this.#columns.size;
  }

  /** Takes in the columns that a row has. */
  add(row: JsonRow): void {
    walk(row, [], (path) => {
      const key = keyOf(path);
      if (!this.#columns.has(key))
        this.#columns.set(key, { name: path.join('.'), path: [...path] });
      return true;
    });
  }

  /** The first column that a row has and is not known. */
  unlisted(row: JsonRow): string | undefined {
    let unknown: string | undefined;
    walk(row, [], (path) => {
      if (!this.#columns.has(keyOf(path))) unknown = path.join('.');
      return unknown === undefined;
    });
    return unknown;
  }
}

/** What a row has at the end of a path; nothing when it is an object, whose members are columns. */
function valueAt(row: JsonRow, path: readonly string[]): unknown {
  let value: unknown = row;
  for (const name of path) {
    // What a prototype holds is no cell.
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return isJsonObject(value) && Object.keys(value).length > 0 ? undefined : value;
}

/** Two paths may read alike with dots between, as names may hold dots. */
function keyOf(path: readonly string[]): string {
  return path.length === 1 ? String(path[0]) : path.join('\u0000');
}

/** Calls `visit` for each value that is no object with members, until it says no. */
function walk(row: JsonRow, path: string[], visit: (path: readonly string[]) => boolean): boolean {
  for (const name of Object.keys(row)) {
    const value = row[name];
    path.push(name);
    const goesOn =
      isJsonObject(value) && Object.keys(value).length > 0 ? walk(value, path, visit) : visit(path);
    path.pop();
    if (!goesOn) return false;
  }
  return true;
}

/** What the rows of a JSONL chunk are read with. */
export interface JsonlHeader {
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
