import type { OperationName } from '../contract/operations.js';

/**
 * Which request goes first when not all can; smaller goes earlier. What ends a batch frees the most, so
 * launches and exports go before uploads, and uploads before polls. Somebody waits at the other end of
 * a unit verification.
 */
export const priorities: Readonly<Record<OperationName, number>> = {
  launchBatch: 0,
  exportBatch: 0,
  verifyUnit: 0,
  credits: 1,
  prepareBatch: 1,
  updateBatch: 1,
  uploadBatch: 2,
  format: 2,
  listBatches: 3,
  batchDetails: 3,
  deleteBatch: 3,
  batchStatus: 4,
};
