import { randomBytes } from 'node:crypto';
import type { Client } from '../client/client.js';
import { systemClock } from '../system/clock.js';
import { decidingOptions } from './resume.js';
import type { RunEntry } from './run-entries.js';
import type { ResolvedRun } from './run-options.js';
import type { StateDirectory } from './state-directory.js';

/**
 * Begins a run, in the place of the one that the journal tells of, if it tells of one.
 *
 * @param given.outputId what outputs know it by. @default its own id
 * @param given.retries whether addresses that failed in the runs before are sent again
 * @throws OutputError
 */
export async function beginRun(
  client: Client,
  state: StateDirectory,
  options: ResolvedRun,
  given: Pick<RunEntry, 'outputId' | 'retries'> = {},
): Promise<RunEntry> {
  const place = await state.place();
  const entry = { ...newRun(client, options), ...(place && { place }), ...given };
  await state.begin(entry);
  return entry;
}

/** A run that is not begun yet. */
export function newRun(client: Client, options: Omit<ResolvedRun, 'stateDir'>): RunEntry {
  // With the history's own, an address is hashed once for both.
  const seed = Buffer.from(options.history?.seed ?? randomBytes(32)).toString('hex');
  return {
    entry: 'run',
    id: randomBytes(8).toString('hex'),
    seed,
    startedAt: new Date((options.clock ?? systemClock).wallNow()).toISOString(),
    service: serviceOf(client, options),
    account: client.keyFingerprint(seed),
    decides: decidingOptions(options),
    ...(options.deleteBatches === true && { deletes: true }),
  };
}

/** How a run calls its service. */
export function serviceOf(
  client: Client,
  { serviceName }: Pick<ResolvedRun, 'serviceName'>,
): string {
  return serviceName ?? client.baseUrl;
}
