import { checkColumnNames, type ColumnOptions } from '../batches/column-layout.js';
import { ConfigurationError } from '../errors/family.js';
import type { Row } from '../rows/object-chunk.js';

/** The first rows of a stream: together they must have the columns, and none of those that are added. */
export class FirstRows {
  /** How many of them are looked at, until all columns are found; the others speak for themselves. */
  most = 1;
  readonly #options: ColumnOptions;
  readonly #columns: readonly string[];
  readonly #names = new Set<string>();
  #rows = 0;
  #areChecked = false;

  /** @param columns those that are read */
  constructor(options: ColumnOptions, columns: readonly string[]) {
    this.#options = options;
    this.#columns = columns;
  }

  /** Whether all columns were found: until then no row may be sent. */
  get areChecked(): boolean {
    return this.#areChecked;
  }

  /** @throws ConfigurationError `invalid_option`, `column_not_found`, `column_exists` */
  look(row: unknown): asserts row is Row {
    this.#rows += 1;
    checkRow(row, this.#rows);
    if (this.#areChecked) return;
    for (const name of Object.keys(row)) this.#names.add(name);
    const isFull = this.#rows >= this.most;
    if (isFull || this.#columns.every((column) => this.#names.has(column))) this.settle();
  }

  /** No more rows are waited for. @throws ConfigurationError `column_not_found`, `column_exists` */
  settle(): void {
    if (this.#areChecked) return;
    checkColumnNames([...this.#names], this.#options, this.#rows);
    this.#areChecked = true;
  }
}

/** @param number counted from 1 */
export function checkRow(row: unknown, number: number): asserts row is Row {
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return;
  const kind = Array.isArray(row) ? 'an array' : String(row === null ? row : typeof row);
  throw new ConfigurationError(`row ${number} must be an object of columns, not ${kind}`);
}
