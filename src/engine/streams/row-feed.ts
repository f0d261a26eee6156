import { type Duplex, pipeline, type Readable, Stream } from 'node:stream';
import { kindOfRow, type Row } from '../../lists/rows/chunks/object-chunk.js';
import { isSame } from '../../lists/rows/sources/combine-headers.js';
import { refuseSameObjects } from '../../lists/rows/guarded-ends.js';
import { beginRows } from '../../lists/rows/sources/read-once.js';
import type { RowsInput } from '../../lists/rows/sources/rows-source.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import type { Clock } from '../../platform/waiting/clock.js';
import { checkColumnNames, type ColumnOptions, layOutColumns } from '../columns/column-layout.js';

/** Most time for rows to come to their end when the one that they are making may never come. */
const leaveMs = 5000;

/** Rows of a program on their way into a stream. */
export class RowFeed {
  readonly #rows: RowsInput;
  readonly #clock: Clock;
  #checked: Generator<object, undefined> | AsyncGenerator<object, undefined> | undefined;
  /** Whether they are making a row, which may never come. */
  #isAsked = true;
  #number = 0;
  #isBegun = false;

  constructor(rows: RowsInput, clock: Clock) {
    this.#rows = rows;
    this.#clock = clock;
  }

  begin(into: Duplex): void {
    const rows = this.#rows;
    const iterator = beginRows(rows, 'the list');
    this.#isBegun = true;
    if (rows instanceof Stream) {
      pipeline(rows as Readable, into, () => undefined);
      return;
    }
    this.#checked =
      Symbol.asyncIterator in rows
        ? this.#checkLater(iterator as AsyncIterator<unknown>)
        : this.#check(iterator as Iterator<unknown>);
    pipeline(this.#checked, into, () => undefined);
  }

  /**
   * Closes them, and waits for their own cleanup, for which they hold what others must not close before: a
   * cursor its connection. A row that they are making is waited for some seconds; after an error it is not.
   */
  async leave(hasFailed: boolean): Promise<void> {
    const isAsked = this.#isAsked;
    const left = this.#close();
    if (!isAsked) return left;
    if (hasFailed && this.#checked) return;
    const done = new AbortController();
    try {
      await Promise.race([left, this.#clock.sleep(leaveMs, done.signal)]);
    } finally {
      done.abort();
    }
  }

  async #close(): Promise<void> {
    await this.#checked?.return(undefined);
    const rows = this.#rows;
    if (!(rows instanceof Stream) || !this.#isBegun || (rows as Readable).closed) return;
    (rows as Readable).destroy();
    await new Promise((resolve) => {
      rows.once('close', resolve);
    });
  }

  /** Rows by their numbers: a stream takes no null, and says nothing of the row. */
  *#check(iterator: Iterator<unknown>): Generator<object, undefined> {
    for (const row of { [Symbol.iterator]: () => iterator }) {
      yield this.#pass(row);
      this.#isAsked = true;
    }
  }

  async *#checkLater(iterator: AsyncIterator<unknown>): AsyncGenerator<object, undefined> {
    for await (const row of { [Symbol.asyncIterator]: () => iterator }) {
      yield this.#pass(row);
      this.#isAsked = true;
    }
  }

  #pass(row: unknown): object {
    this.#number += 1;
    checkRow(row, this.#number);
    this.#isAsked = false;
    return row;
  }
}

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

  /** No more rows are waited for. */
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
function checkRow(row: unknown, number: number): asserts row is Row {
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return;
  throw new ConfigurationError(`row ${number} must be an object of columns, not ${kindOfRow(row)}`);
}
