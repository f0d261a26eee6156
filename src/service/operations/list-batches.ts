import { operations } from '../../contract/operations.js';
import { parseTexts } from '../http/parse-values.js';
import { ok } from '../http/reply.js';
import { summaryFields } from './batch-fields.js';
import type { Handler } from './operation.js';

/**
 * "Lists all batches of the account" (spec, section 4, note 1). The order is not shown: the newest comes
 * first, so that one uploaded between two pages repeats items and hides none. The dates, "given only as
 * a date range of the list", are compared with `created_at`, both ends included.
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
