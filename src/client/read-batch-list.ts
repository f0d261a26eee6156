import * as z from 'zod';
import { batchSummary } from '../contract/bodies.js';

/**
 * The list of batches as it is read: what distinguishes batches is required (spec 2.2). What only describes
 * one must not hide all others: a description that is no text is `null`, a time that is none is empty.
 */
export const readBatchList = z.array(
  batchSummary.extend({
    description: z.string().nullable().catch(null),
    created_at: z.string().catch(''),
    updated_at: z.string().catch(''),
  }),
);
