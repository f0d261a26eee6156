import { invalidText, type CellText, type RowChunk } from './row-chunk.js';

/** A row as library users have it: column names and values. */
export type Row = Readonly<Record<string, unknown>>;

/** About what a row object of a few columns takes on the heap. */
const rowBytes = 280;

/** Rows that are objects; their columns are the keys given, whatever else they hold. */
export class ObjectChunk implements RowChunk {
  readonly rows: readonly Row[];
  readonly #columns: readonly string[];

  constructor(rows: readonly Row[], columns: readonly string[]) {
    this.rows = rows;
    this.#columns = columns;
  }

  get length(): number {
    return this.rows.length;
  }

  get byteSize(): number {
    return this.rows.length * rowBytes;
  }

  text(row: number, column: number): CellText {
    const name = this.#columns[column];
    return name === undefined ? undefined : cellText(this.rows[row]?.[name]);
  }
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
