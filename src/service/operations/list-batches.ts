import { operations } from '../../contract/operations.js';
import { parseTexts } from '../http/parse-values.js';
import { ok } from '../http/reply.js';
import { summaryFields } from './batch-fields.js';
import type { Handler } from './operation.js';

/**
 * "The list has every batch of the account" (spec 4, note 1). The order is not said: the newest comes
 * first, so that one uploaded between two pages repeats items and hides none. Which timestamp
 * the dates are about is not shown: here `created_at`, both ends included.
 */
export const listBatches: Handler = async ({ account, query }, { store, variants }) => {
  const { limit, offset, from_date, to_date } = parseTexts(operations.listBatches.query, query);
  const from = from_date === undefined ? -Infinity : Date.parse(from_date);
  const to = to_date === undefined ? Infinity : Date.parse(to_date);
  const batches = [...store.state.batches.values()]
    .filter((batch) => batch.account === account)
    .filter(({ createdAtMs }) => createdAtMs >= from && createdAtMs <= to)
    // Map order is upload order: the last is the newest, whatever the clock did.
    .toReversed()
    .slice(offset, offset + limit);
  return ok(batches.map((batch) => summaryFields(batch, variants)));
};
