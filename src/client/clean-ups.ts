import { beforeDeadline, type Clock } from '../platform/waiting/clock.js';
import { orAborted } from '../platform/waiting/promises.js';

/** How long a stream that ends early waits for its launches and deletions, and its client for it. */
export const cleanUpMs = 10_000;

/** By the client that it uses. */
const cleanUps = new WeakMap<object, Set<Promise<unknown>>>();

/** A client waits for this before it closes. */
export function addCleanUp(client: object, work: Promise<unknown>): void {
  const open = cleanUps.get(client) ?? new Set();
  cleanUps.set(client, open);
  const settled = work.catch(() => undefined).finally(() => open.delete(settled));
  open.add(settled);
}

export async function cleanedUp(client: object, clock: Clock): Promise<void> {
  const open = cleanUps.get(client);
  if (open === undefined || open.size === 0) return;
  const work = async (signal: AbortSignal): Promise<unknown> =>
    orAborted(Promise.all(open), signal);
  const toError = (): Error => new Error('not all was cleaned up in time');
  await beforeDeadline(work, { clock, ms: cleanUpMs, toError }).catch(() => undefined);
}
