import { revocationOf } from '../apply-accounts.js';
import type { ServiceContext } from '../service-context.js';
import { removeBatchFiles } from '../store/batch-files.js';

/** What happens to batches and keys behind a client's back. */
export type BatchHappening = 'deleted' | 'internal_error';

/** Deletes or breaks a batch, whatever its stage; charges stay as they are. */
export async function happenToBatch(
  happening: BatchHappening,
  uuid: string,
  service: ServiceContext,
): Promise<void> {
  const { store, turns, clock } = service;
  await turns.take(uuid, async () => {
    const batch = store.state.batches.get(uuid);
    if (batch === undefined) return;
    const event = happening === 'deleted' ? 'deleted' : 'failed';
    await store.commit({ event, uuid, at: clock.wallNow() });
    const { name } = batch.stage;
    // The files of a batch that is worked on are still being read: its job removes them at its end.
    if (happening !== 'deleted' || name === 'parsing' || name === 'verifying') return;
    await removeBatchFiles(store.files(batch), store.state.wasLaunched(uuid));
  });
}

/** Revokes the key of an account. */
export async function revokeKey(name: string, { store }: ServiceContext): Promise<void> {
  const account = store.state.accounts.get(name);
  if (account !== undefined) await store.commit(revocationOf(account));
}
