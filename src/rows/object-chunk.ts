import { invalidText, type CellText, type RowChunk } from './row-chunk.js';

/** A row as library users have it: column names and values. */
export type Row = Readonly<Record<string, unknown>>;

/** About what an object takes on the heap, and each of its cells beside its text. */
const objectBytes = 48;
const cellBytes = 24;

/** Rows that are objects; their columns are the keys given, whatever else they hold. */
export class ObjectChunk implements RowChunk {
  readonly rows: readonly Row[];
  readonly byteSize: number;
  readonly #columns: readonly string[];

  constructor(rows: readonly Row[], columns: readonly string[]) {
    this.rows = rows;
    this.byteSize = rows.reduce((bytes, row) => bytes + rowBytes(row), 0);
    this.#columns = columns;
  }

  get length(): number {
    return this.rows.length;
  }

  text(row: number, column: number): CellText {
    const name = this.#columns[column];
    const cells = this.rows[row];
    // What a prototype holds is no cell.
    if (name === undefined || cells === undefined || !Object.hasOwn(cells, name)) return undefined;
    return cellText(cells[name]);
  }
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

/** Numbers and their like are taken as they print; what has no plain text is no valid cell. */
function cellText(value: unknown): CellText {
  switch (typeof value) {
    case 'string':
      return value;
    case 'undefined':
      return undefined;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      if (value === null) return undefined;
      return value instanceof String ? value.valueOf() : invalidText;
  }
}
