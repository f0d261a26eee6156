import { ok, type Reply } from '../http/reply.js';
import type { ServiceContext } from '../service-context.js';
import type { Batch, Prepared } from '../store/batch.js';
import { findHits } from './find-hits.js';
import { inTurn, type Handler } from './operation.js';
import { requireCredits } from './require-credits.js';

/**
 * "POST answers with 200 also where it launches nothing: with `not_ready_for_verification` before the
 * batch is ready, with `verification_already_ongoing` while it is being verified, with
 * `verification_already_done` after that" (spec 3, rule 3).
 */
export const launchBatch: Handler = (call, service) =>
  inTurn(call, service, async (batch) => {
    const { stage } = batch;
    switch (stage.name) {
      case 'uploaded':
      case 'parsing':
        return ok({ status: 'not_ready_for_verification' });
      case 'ready':
        return launch(batch, stage.prepared, service);
      case 'verifying':
        return ok({ status: 'verification_already_ongoing' });
      case 'done':
        return ok({ status: 'verification_already_done' });
      case 'failed':
        return ok({ status: 'error', message: 'the batch ended in internal_error' });
    }
  });

/**
 * "Credits are taken, cache hits give half back" (spec 3). Charge and change of state
 * are one event, and nothing else runs between the look at the balance and that event.
 */
async function launch(batch: Batch, prepared: Prepared, service: ServiceContext): Promise<Reply> {
  const { store, clock, jobs } = service;
  const { account, parameters } = batch;
  const wanted = { account, type: parameters.type, credits: prepared.addresses };
  requireCredits(service, wanted);
  const hits = await findHits(batch, service);
  requireCredits(service, wanted);
  await store.commit({ event: 'launched', uuid: batch.uuid, at: clock.wallNow(), ...hits });
  const launched = store.state.batches.get(batch.uuid);
  if (launched) jobs.verify(launched);
  return ok({ status: 'ok' });
}
