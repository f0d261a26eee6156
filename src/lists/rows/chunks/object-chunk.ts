import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { CellText, RowChunk } from './row-chunk.js';
import { textOfValue } from '../values/print-value.js';

/** A row of library users: column names and values. */
export interface Row {
  readonly [column: string]: unknown;
}

/** Approximate heap size of a row, and of each cell beside its text: all of them wait. */
const heap = { object: 48, member: 24, list: 32, item: 16 } as const;

/** Rows that are objects; their columns are the given keys. */
export class ObjectChunk implements RowChunk {
  readonly rows: readonly Row[];
  readonly byteSize: number;
  readonly #columns: readonly string[];
  #names: ReadonlySet<string> | undefined;

  constructor(rows: readonly Row[], columns: readonly string[]) {
    this.rows = rows;
    this.byteSize = rows.reduce((bytes, row) => bytes + objectBytes(row), 0);
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
    // A prototype's values are not cells.
    if (name === undefined || cells === undefined || !Object.hasOwn(cells, name)) return undefined;
    return cells[name];
  }

  unlisted(row: number): string | undefined {
    this.#names ??= new Set(this.#columns);
    for (const name of Object.keys(this.rows[row] ?? {})) if (!this.#names.has(name)) return name;
    return undefined;
  }
}

export function kindOfRow(row: unknown): string {
  return Array.isArray(row) ? 'an array' : String(row === null ? row : typeof row);
}

/** Rows that are lists of cells in the header's order; missing cells are empty. */
export class CellsChunk implements RowChunk {
  readonly rows: readonly (readonly unknown[])[];
  readonly byteSize: number;

  constructor(rows: readonly (readonly unknown[])[]) {
    this.rows = rows;
    this.byteSize = rows.reduce((bytes, row) => bytes + listBytes(row), 0);
  }

  get length(): number {
    return this.rows.length;
  }

  text(row: number, column: number): CellText {
    const value = this.value(row, column);
    return typeof value === 'symbol' ? (value as CellText) : textOfValue(value);
  }

  cells(row: number): readonly unknown[] {
    return this.rows[row] ?? [];
  }

  value(row: number, column: number): unknown {
    return this.rows[row]?.[column];
  }
}

function objectBytes(row: Row): number {
  let bytes: number = heap.object;
  for (const name in row) bytes += heap.member + valueBytes(row[name]);
  return bytes;
}

function listBytes(row: readonly unknown[]): number {
  let bytes: number = heap.list;
  for (const value of row) bytes += heap.item + valueBytes(value);
  return bytes;
}

function valueBytes(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return ArrayBuffer.isView(value) ? value.byteLength : 0;
}

/**
 * Refuses a reused row object: rows wait for their results, and it would be changed meanwhile.
 *
 * @param name the list's name in messages
 * @returns a check of each row that throws a ConfigurationError for the previous row's object
 */
export function refuseSameObjects(name: string): (row: unknown) => void {
  let number = 0;
  let latest: unknown;
  return (row) => {
    number += 1;
    if (row === latest && typeof row === 'object' && row !== null) {
      throw new ConfigurationError(
        `row ${number} of ${name} is the same object as the row before it: give each row an object of its own, as rows wait for their results`,
        { rows: [number], fault: 'repeated' },
      );
    }
    latest = row;
  };
}
