import type { ServiceContext } from '../service-context.js';
import type { Batch } from '../store/batch.js';

/** Starts the preparation of a batch; must be called in the batch's turn. */
export async function beginParsing(batch: Batch, service: ServiceContext): Promise<void> {
  const { store, jobs, clock } = service;
  await store.commit({ event: 'parsing', uuid: batch.uuid, at: clock.wallNow() });
  const begun = store.state.batches.get(batch.uuid);
  if (begun) jobs.parse(begun);
}
