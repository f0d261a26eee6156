import type { Duplex } from 'node:stream';
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
import { RowFeed } from './row-feed.js';
import { systemClock } from '../../platform/waiting/clock.js';
import type { StreamPlan } from './stream-plan.js';
import type { TargetChoice, VerifySettings } from './stream-options.js';
import { planOf, type Refused, Verify, type Prefixes, type TypedOptions } from './verify.js';

/**
 * Verifies rows that a program has, for a loop: enriched rows come out, as many and in the same order.
 * The rows keep their type. Nothing is read before the loop asks for its first row, and no more than the
 * bounds on rows that wait allow. An error of the rows, of the service or of `signal` is thrown in the
 * loop; leaving the loop closes the rows, waits for their cleanup and launches nothing more. A second loop is an error. A field that
 * a row lacks is an empty cell; none of the first 100 rows has a misspelt one, so that is an error, too.
 * Not durable without a history: what was paid for rows that have not come out is lost when
 * the loop ends early.
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

/** A field that some rows lack is in one of so many; a misspelt one is in none. */
const firstRows = 100;

/** Takes rows of its own, from the moment that its reader asks for the first. */
class VerifyRows extends Verify {
  readonly #feed: RowFeed;
  #isBegun = false;
  /** Whether its reader has left the loop, which a stream takes for an abort. */
  #isLeft = false;
  /** Settled when the rows are closed. */
  #left: Promise<void> | undefined;
  /** Settled when nothing more is done on the service. */
  #closed: Promise<unknown> | undefined;

  constructor(rows: RowsInput, plan: StreamPlan, options: VerifySettings) {
    super(plan, joinResults(plan), options);
    plan.rowColumns.most = firstRows;
    // All of them are there before the first is read.
    plan.rowColumns.mayRepeat = Array.isArray(rows);
    this.#feed = new RowFeed(rows, options.clock ?? systemClock);
    // An error that comes before its reader is kept for it, and ends no process.
    this.on('error', () => undefined);
  }

  /** @throws ConfigurationError in a second loop: the rows are gone */
  override [Symbol.asyncIterator](): ReturnType<Duplex[typeof Symbol.asyncIterator]> {
    if (this.#isBegun) {
      throw new ConfigurationError(
        'these rows can be looped over once: keep them in an array, or call verifyRows() again, which pays again',
      );
    }
    const rows = super[Symbol.asyncIterator]();
    const leave = rows.return?.bind(rows);
    return Object.assign(rows, {
      return: async (value: unknown) => {
        this.#isLeft = true;
        const step = await leave?.(value);
        // As a loop over the rows themselves would.
        await this.#left;
        // Whoever has left may close the client.
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
    this.#left = this.#feed.leave(!this.#isLeft);
    // An error is not hidden by what it leads to.
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
