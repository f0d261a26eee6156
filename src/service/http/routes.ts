import { operations, type OperationName } from '../../contract/operations.js';
import { batchDetails } from '../operations/batch-details.js';
import { batchStatus } from '../operations/batch-status.js';
import { credits } from '../operations/credits.js';
import { deleteBatch } from '../operations/delete-batch.js';
import { exportBatch } from '../operations/export-batch.js';
import { faults } from '../operations/faults.js';
import { format } from '../operations/format.js';
import { launchBatch } from '../operations/launch-batch.js';
import { ledger } from '../operations/ledger.js';
import { listBatches } from '../operations/list-batches.js';
import { openapi } from '../operations/openapi.js';
import type { Handler } from '../operations/operation.js';
import { prepareBatch } from '../operations/prepare-batch.js';
import { statusPage } from '../operations/status-page.js';
import { updateBatch } from '../operations/update-batch.js';
import { uploadBatch } from '../operations/upload-batch.js';
import { verifyUnit } from '../operations/verify-unit.js';
import type { DisturbedHandler, FaultInjector } from '../faults/fault-injector.js';
import type { Route } from './router.js';

const handlers: Readonly<Record<OperationName, Handler>> = {
  credits,
  listBatches,
  uploadBatch,
  batchStatus,
  updateBatch,
  prepareBatch,
  launchBatch,
  deleteBatch,
  exportBatch,
  batchDetails,
  verifyUnit,
  format,
};

/** Paths that are the local service's own: they are not limited by the rate, and ask for the key. */
export const localPrefix = '/_local/';

/** The twelve operations of the contract, and what the local service has beside them. */
export function createRoutes(
  injector: FaultInjector | undefined,
): readonly Route<DisturbedHandler>[] {
  return [
    ...(Object.keys(handlers) as OperationName[]).map((name) => {
      const { method, path, keyed } = operations[name];
      const handler = handlers[name];
      return { method, path, keyed, handle: injector?.disturb(name, handler) ?? handler };
    }),
    { method: 'GET', path: '/', keyed: false, handle: statusPage },
    { method: 'GET', path: '/openapi.json', keyed: false, handle: openapi },
    { method: 'GET', path: `${localPrefix}ledger`, keyed: true, handle: ledger },
    { method: 'GET', path: `${localPrefix}faults`, keyed: true, handle: faults },
  ];
}
