import { pipeline, Stream, type Duplex, type Readable } from 'node:stream';
import { beginRows } from '../../lists/rows/sources/once-only.js';
import type { RowsInput } from '../../lists/rows/sources/rows-source.js';
import { checkRow } from './row-columns.js';

/** Rows of a program on their way into a stream. */
export class RowFeed {
  readonly #rows: RowsInput;
  #checked: Generator<object, undefined> | AsyncGenerator<object, undefined> | undefined;
  /** Whether they are making a row, which may never come. */
  #isAsked = true;
  #number = 0;

  constructor(rows: RowsInput) {
    this.#rows = rows;
  }

  /** @throws InputError `input_unreadable` when they can be read once, and were begun before */
  begin(into: Duplex): void {
    const rows = this.#rows;
    const iterator = beginRows(rows, 'the list');
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
   * Closes them, and waits for their own cleanup; not where they are making a row.
   *
   * @throws what their cleanup throws
   */
  async leave(): Promise<void> {
    const isAsked = this.#isAsked;
    const left = this.#close();
    if (!isAsked) await left;
    else left.catch(() => undefined);
  }

  async #close(): Promise<void> {
    await this.#checked?.return(undefined);
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
