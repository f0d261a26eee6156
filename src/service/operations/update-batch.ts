import { isDeepStrictEqual } from 'node:util';
import { operations } from '../../contract/operations.js';
import { badRequest } from '../http/http-problem.js';
import { parseValue } from '../http/parse-values.js';
import { readJson } from '../http/read-json.js';
import { ok, type Reply } from '../http/reply.js';
import { removePreparation } from '../store/batch-files.js';
import { beginParsing } from './begin-parsing.js';
import { inTurn, ownBatch, type Handler } from './operation.js';

/** The fields of the generic success object are not shown (spec 2.9). */
export const success: Reply = ok({ status: 'ok' });

/**
 * "PUT changes the parameters until the launch. The next PATCH parses the batch with the new ones" (spec
 * 3, rule 2). Until then the batch is back in `parsing_content`: nothing can be launched whose
 * content was prepared for other parameters. An update that changes nothing leaves it as it is.
 */
export const updateBatch: Handler = async (call, service) => {
  ownBatch(call, service);
  const parameters = parseValue(
    operations.updateBatch.request.schema,
    await readJson(call.request),
  );
  return inTurn(call, service, async (batch) => {
    const { name } = batch.stage;
    if (name === 'verifying' || name === 'done' || name === 'failed') {
      throw badRequest('parameters can only be changed before the launch');
    }
    if (isDeepStrictEqual(parameters, batch.parameters)) return success;
    const { store, clock } = service;
    await store.commit({ event: 'updated', uuid: batch.uuid, at: clock.wallNow(), parameters });
    // A parsing under way removes its own files when it finds that nobody waits for it.
    if (name === 'ready') await removePreparation(store.files(batch));
    if (!service.variants.prepareNeeded) await beginParsing(batch, service);
    return success;
  });
};
