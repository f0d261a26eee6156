import type { CellText, RowChunk } from './row-chunk.js';
import { textOfValue } from '../values/print-value.js';

/** A row as library users have it: column names and values. */
export interface Row {
  readonly [column: string]: unknown;
}

/** About what an object takes on the heap, and each of its cells beside its text. */
const objectBytes = 48;
const cellBytes = 24;

/** Rows that are objects; their columns are the keys given, whatever else they hold. */
export class ObjectChunk implements RowChunk {
  readonly rows: readonly Row[];
  readonly byteSize: number;
  readonly #columns: readonly string[];
  #names: ReadonlySet<string> | undefined;

  constructor(rows: readonly Row[], columns: readonly string[]) {
    this.rows = rows;
    this.byteSize = rows.reduce((bytes, row) => bytes + rowBytes(row), 0);
    this.#columns = columns;
  }

  get length(): number {
    return this.rows.length;
  }

  text(row: number, column: number): CellText {
    return textOfValue(this.value(row, column));
  }

  value(row: number, column: number): unknown {
    const name = this.#columns[column];
    const cells = this.rows[row];
    // What a prototype holds is no cell.
    if (name === undefined || cells === undefined || !Object.hasOwn(cells, name)) return undefined;
    return cells[name];
  }

  unlisted(row: number): string | undefined {
    this.#names ??= new Set(this.#columns);
    for (const name of Object.keys(this.rows[row] ?? {})) if (!this.#names.has(name)) return name;
    return undefined;
  }
}

/** What a message calls something that is no row. */
export function kindOfRow(row: unknown): string {
  return Array.isArray(row) ? 'an array' : String(row === null ? row : typeof row);
}

/** All of a row waits, also the cells that nobody verifies. */
function rowBytes(row: Row): number {
  let bytes = objectBytes;
  for (const name in row) {
    const value = row[name];
    bytes += cellBytes;
    if (typeof value === 'string') bytes += value.length;
    else if (ArrayBuffer.isView(value)) bytes += value.byteLength;
  }
  return bytes;
}
