import { checkColumnNames, layOutColumns, type ColumnOptions } from '../columns/column-layout.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { kindOfRow, type Row } from '../../lists/rows/chunks/object-chunk.js';
import { refuseSameObjects } from '../../lists/rows/same-object.js';
import { isSame } from '../../lists/rows/same-names.js';

/** The columns of rows that are objects: the first rows together must have those that are read, and no row one that is added. */
export class RowColumns {
  /** How many rows are looked at, until all columns are found; the others speak for themselves. */
  most = 1;
  /** Whether one object may come several times: it does not change in between. */
  mayRepeat = false;
  readonly #options: ColumnOptions;
  readonly #columns: readonly string[];
  readonly #names = new Set<string>();
  readonly #added: ReadonlySet<string>;
  /** Names of the row before: those of nearly every row. */
  #before: readonly string[] = [];
  #rows = 0;
  #areFound = false;
  readonly #refuseSame = refuseSameObjects('the list');

  /**
   * @param columns those that are read
   * @param added names of those that are added
   */
  constructor(options: ColumnOptions, columns: readonly string[], added: ReadonlySet<string>) {
    this.#options = options;
    this.#columns = columns;
    this.#added = added;
  }

  /** Whether all columns were found: until then no row may be sent. */
  get areFound(): boolean {
    return this.#areFound;
  }

  /**
   * @throws ConfigurationError `column_not_found`, `column_exists`; `invalid_option` for what is no row, or
   *   the object of the row before
   */
  look(row: unknown): asserts row is Row {
    this.#rows += 1;
    checkRow(row, this.#rows);
    if (!this.mayRepeat) this.#refuseSame(row);
    const names = Object.keys(row);
    if (!isSame(names, this.#before)) {
      this.#before = names;
      if (names.some((name) => this.#added.has(name))) this.#refuse(names);
    }
    if (this.#areFound) return;
    for (const name of names) this.#names.add(name);
    const isFull = this.#rows >= this.most;
    if (isFull || this.#columns.every((column) => this.#names.has(column))) this.settle();
  }

  /** No more rows are waited for. @throws ConfigurationError `column_not_found` */
  settle(): void {
    if (this.#areFound) return;
    checkColumnNames([...this.#names], this.#options, this.#rows);
    this.#areFound = true;
  }

  /** A cell of its own would be overwritten. */
  #refuse(names: readonly string[]): void {
    const header = [...new Set([...this.#columns, ...names])];
    layOutColumns(header, this.#options, `row ${this.#rows}`);
  }
}

/** @param number counted from 1 */
export function checkRow(row: unknown, number: number): asserts row is Row {
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return;
  throw new ConfigurationError(`row ${number} must be an object of columns, not ${kindOfRow(row)}`);
}
