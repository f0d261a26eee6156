import { type Duplex, pipeline, type Readable, Stream } from 'node:stream';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { checkValue } from '../../platform/check-options.js';
import type { Needed } from '../../platform/option-kinds.js';
import type { AddedField } from '../columns/added-fields.js';
import { type RowsInput, type RowsOf, someRows } from '../../lists/rows/sources/rows-source.js';
import type {
  EnrichedRow,
  OpenFields,
  PhoneColumn,
  SureFields,
  TextColumn,
} from './enriched-row.js';
import { joinResults } from './join-results.js';
import { systemClock, type Clock } from '../../platform/waiting/clock.js';
import { type StreamPlan, checkRow } from './stream-plan.js';
import type {
  TargetChoice,
  VerifySettings,
  Prefixes,
  Refused,
  TypedOptions,
} from './stream-options.js';
import { planOf, Verify } from './verify.js';
import { beginRows } from '../../lists/rows/sources/read-once.js';

/**
 * Verifies a program's rows in a loop: enriched rows come out, as many and in the same order, and keep their
 * type. Nothing is read before the loop asks for its first row, and no more than the bounds on waiting rows
 * allow. An error of the rows, of the service or of `signal` is thrown in the loop; leaving the loop closes
 * the rows, waits for their cleanup and launches nothing more. A second loop is an error. A missing field is
 * an empty cell; one that none of the first 100 rows has is an error. Not durable without a history: results
 * of rows that have not come out are lost when the loop ends early.
 *
 * @param rows an array, a generator, a cursor, a stream of objects
 *
 * @throws ConfigurationError at once; in the loop whatever stops the run
 *
 * @example
 * ```ts
 * const rows = [{ id: 1, email: 'good@sluice.test' }];
 * for await (const row of verifyRows(rows, { client, email: ['email'], country: 'US' })) {
 *   console.log(row.id, row.email_valid); // 1 true
 * }
 * ```
 */
export function verifyRows<
  Input extends object,
  const Email extends TextColumn<Input> = never,
  const Phone extends PhoneColumn<Input> = never,
  const Prefix extends Prefixes = {},
  const Chosen extends AddedField = never,
  const Given = unknown,
>(
  rows: RowsOf<Input>,
  options: TypedOptions<Input, Email, Phone, Prefix, Chosen> &
    Needed<Given, TargetChoice> &
    Refused<Given>,
): AsyncIterable<
  EnrichedRow<Input, Email, Phone, Prefix, Chosen, SureFields<Given>, OpenFields<Given>>
> {
  checkValue('rows', rows, someRows);
  return new VerifyRows(rows, planOf(options), options);
}

/** A field that some rows lack is in one of the first rows; a misspelt one is in none. */
const firstRows = 100;

/** Reads its own rows, from its reader's first request on. */
class VerifyRows extends Verify {
  readonly #feed: RowFeed;
  #isBegun = false;
  /** Whether the reader has left the loop, which a stream takes for an abort. */
  #isLeft = false;
  /** Settled when the rows are closed. */
  #left: Promise<void> | undefined;
  /** Settled when the work on the service has ended. */
  #closed: Promise<unknown> | undefined;

  constructor(rows: RowsInput, plan: StreamPlan, options: VerifySettings) {
    super(plan, joinResults(plan), options);
    plan.rowColumns.most = firstRows;
    // An array's rows are all there before the first is read.
    plan.rowColumns.mayRepeat = Array.isArray(rows);
    this.#feed = new RowFeed(rows, options.clock ?? systemClock);
    // An error before its reader arrives is kept for it, and does not end the process.
    this.on('error', () => undefined);
  }

  /** @throws ConfigurationError in a second loop: the rows are consumed */
  override [Symbol.asyncIterator](): ReturnType<Duplex[typeof Symbol.asyncIterator]> {
    if (this.#isBegun) {
      throw new ConfigurationError(
        'these rows can be looped over once: keep them in an array, or call verifyRows() again, which pays again',
        { option: 'rows', fault: 'repeated' },
      );
    }
    const rows = super[Symbol.asyncIterator]();
    const leave = rows.return?.bind(rows);
    return Object.assign(rows, {
      return: async (value: unknown) => {
        this.#isLeft = true;
        const step = await leave?.(value);
        // Like a loop over the rows themselves.
        await this.#left;
        // The caller that has left may close the client.
        await this.#closed;
        return step;
      },
    });
  }

  override _read(): void {
    this.#begin();
    super._read();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const closed = new Promise((resolve) => {
      super._destroy(error, resolve);
    });
    this.#closed = closed;
    this.#left = this.#feed.leave();
    // An error must not be hidden by its consequences.
    if (!this.#isLeft) this.#left = this.#left.catch(() => undefined);
    Promise.all([closed, this.#left]).then(() => done(error), done);
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    try {
      this.#feed.begin(this);
    } catch (error) {
      this.destroy(error as Error);
    }
  }
}

/** Longest wait for rows to close while they make one that may never come. */
const leaveMs = 5000;

/** A program's rows, read into a stream. */
class RowFeed {
  readonly #rows: RowsInput;
  readonly #clock: Clock;
  #checked: Generator<object, undefined> | AsyncGenerator<object, undefined> | undefined;
  /** Whether a row is being made, which may never come. */
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
   * Closes the rows and waits for their cleanup, which may need resources such as a cursor's connection. A
   * row that is being made is awaited for some seconds.
   */
  async leave(): Promise<void> {
    const isAsked = this.#isAsked;
    const left = this.#close();
    if (!isAsked) return left;
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

  /** Numbers the rows: a stream accepts no null, and does not report the row. */
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
