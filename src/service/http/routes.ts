import { operations, type OperationName } from '../../contract/operations.js';
import {
  batchDetails,
  batchStatus,
  deleteBatch,
  launchBatch,
  listBatches,
  prepareBatch,
  updateBatch,
  uploadBatch,
} from '../operations/batches.js';
import { credits, ledger } from '../operations/credits.js';
import { exportBatch } from '../operations/export-batch.js';
import { format, verifyUnit } from '../operations/units.js';
import type { Handler } from '../operations/operation.js';
import { statusPage } from '../operations/status-page.js';
import type { DisturbedHandler, FaultInjector } from '../faults/fault-injector.js';
import { openapiDocument } from '../openapi/openapi-document.js';
import { ok } from './reply.js';
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

/** `GET /openapi.json`: the interface as a document. It tells nothing of an account: no key is asked. */
const openapi: Handler = async () => ok(openapiDocument());

/** `GET /_local/faults`: the planned faults in their order, and how often each fired. */
const faults: Handler = async (_call, service) => ok(service.faults?.report() ?? []);

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
