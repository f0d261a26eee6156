import { ok } from '../http/reply.js';
import { progressFields, summaryFields } from './batch-fields.js';
import { ownBatch, type Handler } from './operation.js';

/** Batch status (spec 2.5): the fields of its variants beside `status` are not shown. */
export const batchStatus: Handler = async (call, service) => {
  const batch = ownBatch(call, service);
  return ok({
    ...summaryFields(batch, service.variants),
    ...progressFields(batch, service.variants),
  });
};
