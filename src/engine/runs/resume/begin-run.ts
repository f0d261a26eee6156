import { randomBytes } from 'node:crypto';
import { askAboutColumns, callingCodeNotices } from '../../plan/column-quality.js';
import type { Client } from '../../../client/client.js';
import { systemClock } from '../../../platform/waiting/clock.js';
import { balanceNotice, budgetNotices } from '../credits/budget-notices.js';
import type { CreditBalance } from '../../../contract/bodies.js';
import type { PassOne } from '../planning/pass-one.js';
import { decidingOptions } from './compare-run.js';
import type { RunEntry } from '../../stores/run-entries.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';

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
export function newRun(client: Client, options: ResolvedRun): RunEntry {
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

/** Asks and says what there is to be asked and said of a list. @throws ConfigurationError when the run shall not go on */
export async function checkBeforeSending(
  run: Pick<ResolvedRun, 'onDoubtfulColumns' | 'maxCredits' | 'onProgress'>,
  { plan, batches }: Pick<PassOne, 'plan' | 'batches'>,
): Promise<void> {
  await askAboutColumns(plan, run);
  for (const message of [...callingCodeNotices(plan), ...budgetNotices(batches, run.maxCredits)]) {
    run.onProgress?.({ stage: 'notice', message });
  }
}

/** Says before anything is sent where the account has too little; whoever is asked before the launch sees it then. */
export function tellBalance(
  {
    maxCredits,
    onPrepared,
    onProgress,
  }: Pick<ResolvedRun, 'maxCredits' | 'onPrepared' | 'onProgress'>,
  { batches }: Pick<PassOne, 'batches'>,
  balance: CreditBalance | undefined,
): void {
  if (!balance || maxCredits !== undefined || onPrepared) return;
  const message = balanceNotice(batches, balance);
  if (message !== undefined) onProgress?.({ stage: 'notice', message });
}
