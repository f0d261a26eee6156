import * as z from 'zod';
import { type BatchSummary, batchSummary } from '../contract/bodies.js';
import { limits } from '../contract/limits.js';
import type { ListQueryInput } from '../contract/parameters.js';
import type { CallOptions } from './client-options.js';

export type ListQuery = Omit<ListQueryInput, 'from_date' | 'to_date'> & {
  readonly from_date?: string | Date | undefined;
  readonly to_date?: string | Date | undefined;
};

export interface BatchLister {
  listBatches(query?: ListQuery, options?: CallOptions): Promise<BatchSummary[]>;
}

/** Items shared by two neighbouring pages, so that a batch deleted during the scan hides none. */
const overlap = 100;

/**
 * Reads the whole list of batches, page by page, in the service's order. Items may come twice. The service
 * may have smaller pages than asked for: only a page shorter than another is the last.
 *
 * @param dates which batches are wanted; omitted where none may be missed, as the clocks may differ
 */
export async function* scanBatches(
  service: BatchLister,
  options: CallOptions = {},
  dates: Pick<ListQuery, 'from_date' | 'to_date'> = {},
): AsyncGenerator<BatchSummary, undefined> {
  const limit = limits.listLimit.max;
  let before: ReadonlySet<string> = new Set();
  let longest = 1;
  for (let offset = 0; ;) {
    const page = await service.listBatches({ ...dates, limit, offset }, options);
    // A Client has checked its answers; a double may answer anything.
    if (!Array.isArray(page))
      throw new TypeError('client.listBatches() has to resolve with an array');
    yield* page;
    // A list that ignores the offset would have no last page.
    const isStuck = page.every(({ batch_uuid }) => before.has(batch_uuid));
    if (page.length < longest || isStuck) return;
    longest = page.length;
    before = new Set(page.map(({ batch_uuid }) => batch_uuid));
    offset += page.length - Math.min(overlap, page.length >> 1);
  }
}

/**
 * The batch list, read leniently: what identifies a batch is required (spec 2.2), but an invalid description
 * becomes `null` and an invalid time empty, so that one item does not hide all others.
 */
export const readBatchList = z.array(
  batchSummary.extend({
    description: z.string().nullable().catch(null),
    created_at: z.string().catch(''),
    updated_at: z.string().catch(''),
  }),
);
