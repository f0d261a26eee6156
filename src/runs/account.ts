import type { Client } from '../client/client.js';
import { StateError } from '../errors/family.js';
import { isSluiceError } from '../errors/sluice-error.js';
import type { RunEntry } from './run-entries.js';
import type { RunStore } from './run-store.js';

/**
 * Notices another account before anything is paid again: under its key all batches of the run look
 * deleted. A key that sees one of them is a new key of the same account.
 *
 * @throws StateError `state_mismatch` when the key belongs to another account
 */
export async function checkAccount(
  client: Client,
  known: RunEntry,
  state: RunStore,
  signal: AbortSignal,
): Promise<void> {
  const account = client.keyFingerprint(known.seed);
  if (account === known.account) return;
  const { batches, earlier } = state.known;
  const uuids = [{ batches }, ...earlier]
    .flatMap((run) => [...run.batches.values()])
    .map((entry) => ('uuid' in entry.known ? entry.known.uuid : undefined))
    .filter((uuid) => uuid !== undefined);
  for (const uuid of uuids) {
    if (await isVisible(client, uuid, signal)) {
      await state.record({ entry: 'account', account });
      return;
    }
  }
  if (uuids.length === 0) return;
  throw new StateError(
    'the key belongs to another account than the one that the unfinished run in the state directory was begun with: none of its batches is there. Use a key of that account to go on, or start over with `fresh`',
    { code: 'state_mismatch' },
  );
}

async function isVisible(client: Client, uuid: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.batchStatus(uuid, { signal });
    return true;
  } catch (error) {
    if (isSluiceError(error, 'not_found')) return false;
    throw error;
  }
}
