import type { Client } from '../../../client/client.js';
import type { SharedRunStore } from '../run-store.js';

/**
 * Lets the requests of a client keep the pace of its account: in a store all runs share it.
 *
 * @returns ends that
 * @throws DeadlineError when the store is out of reach for too long
 */
export async function sharePace(
  client: Client,
  state: Pick<SharedRunStore, 'joinPace'>,
): Promise<() => void> {
  const { baseUrl, intervalMs } = client;
  const account = (salt: string): string =>
    `${client.keyFingerprint(salt)} ${new URL(baseUrl).origin}`;
  return client.sharePace(await state.joinPace({ account, intervalMs }));
}
