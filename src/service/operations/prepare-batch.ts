import { ok } from '../http/reply.js';
import { beginParsing } from './begin-parsing.js';
import { inTurn, type Handler } from './operation.js';

/**
 * "PATCH begins parsing and preparation, after the upload and the parameters. Until the launch it may be
 * repeated without limit; a repetition changes nothing" (spec 3, rule 1): while it is parsing, or
 * ready with the same parameters, there is nothing to do.
 */
export const prepareBatch: Handler = (call, service) =>
  inTurn(call, service, async (batch) => {
    switch (batch.stage.name) {
      case 'uploaded':
        await beginParsing(batch, service);
        return ok({ status: 'ok' });
      case 'parsing':
      case 'ready':
        return ok({ status: 'ok' });
      case 'verifying':
      case 'done':
        return ok({ status: 'error', message: 'the batch was launched already' });
      case 'failed':
        return ok({ status: 'error', message: 'the batch ended in internal_error' });
    }
  });
