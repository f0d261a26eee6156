import { isVisible } from '../batches/uploads/is-visible.js';
import type { Client } from '../../client/client.js';
import { StateError } from '../../platform/errors/errors.js';
import type { RunEntry } from '../stores/run-entries.js';
import type { RunStore } from '../stores/run-store.js';

/**
 * Whether a key is of the account that a run was begun with, as far as the service shows: under another
 * account's all its batches look deleted. One that sees one of them is a new key of the same account.
 */
export async function isOfAccount(
  client: Client,
  run: RunEntry,
  { known }: Pick<RunStore, 'known'>,
  signal: AbortSignal,
): Promise<'same' | 'replaced' | 'unknown' | 'other'> {
  if (client.keyFingerprint(run.seed) === run.account) return 'same';
  const uuids = [{ batches: known.batches }, ...known.earlier]
    .flatMap(({ batches }) => [...batches.values()])
    .map((entry) => ('uuid' in entry.known ? entry.known.uuid : undefined))
    .filter((uuid) => uuid !== undefined);
  for (const uuid of uuids) if (await isVisible(client, uuid, signal)) return 'replaced';
  return uuids.length === 0 ? 'unknown' : 'other';
}

/**
 * Notices another account before anything is paid again.
 *
 * @throws StateError `state_mismatch` when the key belongs to another account
 */
export async function checkAccount(
  client: Client,
  known: RunEntry,
  state: RunStore,
  signal: AbortSignal,
): Promise<void> {
  const found = await isOfAccount(client, known, state, signal);
  if (found === 'replaced') {
    await state.record({ entry: 'account', account: client.keyFingerprint(known.seed) });
  }
  if (found !== 'other') return;
  throw new StateError(
    'the key belongs to another account than the one that the unfinished run in the state directory was begun with: none of its batches is there. Use a key of that account to go on, or start over with `fresh`',
    { code: 'state_mismatch' },
  );
}
