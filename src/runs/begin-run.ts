import { randomBytes } from 'node:crypto';
import { checkHistoryService } from '../batches/check-history-service.js';
import type { Client } from '../client/client.js';
import { checkAccount } from './account.js';
import { checkSameRun, decidingOptions } from './resume.js';
import type { RunEntry } from './run-entries.js';
import type { RunOptions } from './run-options.js';
import type { StateDirectory } from './state-directory.js';

/**
 * Begins a run, or takes up the one that the journal tells of.
 *
 * @throws StateError `state_mismatch` when that is another one, or the key is of another account
 */
export async function beginRun(
  client: Client,
  state: StateDirectory,
  options: RunOptions & { readonly signal: AbortSignal },
): Promise<RunEntry> {
  const service = options.serviceName ?? client.baseUrl;
  checkHistoryService(options.history, service);
  const decides = decidingOptions(options);
  const known = state.known.run;
  if (known) {
    checkSameRun(known, { decides, service });
    await checkAccount(client, known, state, options.signal);
    return known;
  }
  // With the history's own, an address is hashed once for both.
  const seed = Buffer.from(options.history?.seed ?? randomBytes(32)).toString('hex');
  const place = await state.place();
  const entry: RunEntry = {
    entry: 'run',
    id: randomBytes(8).toString('hex'),
    seed,
    startedAt: new Date().toISOString(),
    service,
    account: client.keyFingerprint(seed),
    decides,
    ...(place && { place }),
    ...(options.deleteBatches === true && { deletes: true }),
  };
  await state.record(entry);
  return entry;
}
