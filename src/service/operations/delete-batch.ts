import { badRequest } from '../http/http-problem.js';
import { removeBatchFiles } from '../store/batch-files.js';
import { inTurn, type Handler } from './operation.js';
import { success } from './update-batch.js';

/**
 * "DELETE is for a batch that nothing works on: before its verification or after it" (spec 3, rule 4):
 * 400 otherwise. A batch that waits for its preparation is not being processed.
 */
export const deleteBatch: Handler = (call, service) =>
  inTurn(call, service, async (batch) => {
    const { store, clock } = service;
    const { name } = batch.stage;
    if (name === 'parsing' || name === 'verifying') {
      throw badRequest('a batch cannot be deleted while it is being processed');
    }
    await store.commit({ event: 'deleted', uuid: batch.uuid, at: clock.wallNow() });
    await removeBatchFiles(store.files(batch), store.state.wasLaunched(batch.uuid));
    return success;
  });
