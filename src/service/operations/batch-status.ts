import { ok } from '../http/reply.js';
import { progressFields, summaryFields } from './batch-fields.js';
import { ownBatch, type Handler } from './operation.js';

/** Batch status (spec 2.5): "fields of each status variant other than `status`: not shown". */
export const batchStatus: Handler = async (call, service) => {
  const batch = ownBatch(call, service);
  return ok({
    ...summaryFields(batch, service.variants),
    ...progressFields(batch, service.variants),
  });
};
