import { ConfigurationError } from '../errors/family.js';
import type { Needed } from '../options/needed.js';
import type { AddedField } from '../results/columns.js';
import { isRows } from '../rows/rows-source.js';
import type { EnrichedRow, PhoneColumn, TextColumn } from './enriched-row.js';
import type { LaneChoice } from './stream-options.js';
import { createVerify, type TypedOptions } from './verify.js';

/**
 * Verifies rows that a program has, for a loop: enriched rows come out, as many and in the same order.
 * The rows keep their type. Nothing is read before the loop asks for its first row, and no more than the
 * bounds on rows that wait allow. An error of the rows, of the service or of `signal` is thrown in the
 * loop; leaving the loop closes the rows and launches nothing more. A second loop is an error. A field that
 * a row lacks is an empty cell; none of the first 100 rows has a misspelt one, so that is an error, too.
 * Not durable: what was paid is lost with the process.
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
  const Prefix = unknown,
  const Chosen extends AddedField = never,
  Given = unknown,
>(
  rows: Iterable<Input> | AsyncIterable<Input> | ReadableStream<Input>,
  options: TypedOptions<Input, Email, Phone, Prefix, Chosen> & Needed<Given, LaneChoice>,
): AsyncIterable<EnrichedRow<Input, Email, Phone, Prefix, Chosen>> {
  if (!isRows(rows)) {
    throw new ConfigurationError('rows must be an array, a generator or a stream of row objects');
  }
  return createVerify(options).over(rows);
}
