import type { Client } from '../../../client/client.js';
import { StateError } from '../../../platform/errors/errors.js';
import { counted, startText } from '../../../platform/text/shown-numbers.js';
import { groupNumber } from '../../addresses/address.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { mayHaveLaunched } from '../../batches/batch-state.js';
import { readLines } from '../../batches/batch.js';
import type { AddressBook } from '../../plan/address-book.js';
import { Plan } from '../../plan/plan.js';
import { addressOf } from '../../plan/result-join.js';
import { LocalRunClaims } from '../../stores/directory/local-claims.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import { outputIdOf, type PlanEntry, type RunEntry } from '../../stores/journal-entries.js';
import { entryOf, hasPaid, emptyRunState } from '../../stores/run-state.js';
import type { DriveRunOptions } from '../execution/drive-run-options.js';
import { settleRun } from '../execution/run-driver.js';
import type { ResolvedRun } from '../options/run-options.js';
import { paidNumbers, plannedBatches } from '../planning/batch-files.js';
import type { PlannedInput } from '../planning/plan-input.js';
import { readRecalled } from '../planning/recalled-results.js';
import type { CarriedRun } from '../reporting/run-progress.js';
import { carriedUuids } from './earlier-results.js';
import { optionName } from '../../../platform/text/option-name.js';
import { Reconciliation } from './reconcile.js';

export interface SettleOptions {
  readonly run: ResolvedRun;
  readonly client: Client;
  readonly store: StateDirectory;
}

interface CarryOverOptions extends SettleOptions {
  /** The run whose list has changed, and its plan. */
  readonly state: { readonly run: RunEntry; readonly plan: PlanEntry };
  /** Tonight's list, hashed under that run's seed. */
  readonly tonight: PlannedInput;
  /** The change, as text; `undefined` where only failed addresses are sent again. */
  readonly change: string | undefined;
  /** Called once it is decided, before anything is sent. */
  readonly onDecided: () => Promise<void>;
}

/**
 * Prepares a run of tonight's list: finishes what the run before has launched, so that its results can be
 * used by address, and deletes what it only uploaded. After a kill the next process repeats it: only a status
 * can have changed.
 *
 * @throws StateError `state_mismatch` when too little of what was paid would be useful, with nothing sent;
 * what stops the batches
 */
export async function carryOver(options: CarryOverOptions): Promise<void> {
  const { store, state, change, run } = options;
  // Decided without the service.
  if (run.onChange === 'stop' && change !== undefined) {
    throw refusalOf(options, change, `${optionName('onChange', 'stop')} ends the run here`);
  }
  const reconciliation = await reconciliationOf(options, state.run);
  reconciliation.refuseCopy();
  const settled = { ...state, batchesPath: store.batchesPath };
  await settle(options, { reconciliation, store, ...settled }, async (driven) => {
    if (change !== undefined) {
      const counting = driven.filter((each) => !reconciliation.sawNoLaunch(each));
      await decide(options, change, counting);
    }
    await options.onDecided();
  });
}

/**
 * Requests the paid exports again that were not accepted before the list changed.
 *
 * @throws what stops the batches
 */
export async function retryEarlier(options: SettleOptions): Promise<void> {
  const { store } = options;
  for (const earlier of store.state.earlier.filter(hasPaid)) {
    const { batchesPath, results } = store.of(earlier);
    const { run, plan, batches } = earlier;
    const state = { ...emptyRunState, run, plan, batches };
    const claims = new LocalRunClaims(state, {
      // Nothing of it is launched any more: stored results are all that is recorded.
      record: async () => undefined,
      keepResults: async (...kept) => results.keep(...kept),
    });
    await settle(options, {
      reconciliation: await reconciliationOf(options, run),
      run,
      plan,
      batchesPath,
      store: {
        state,
        isShared: false,
        claim: async (wanted) => claims.claim(wanted),
        readResults: async (...kept) => results.read(...kept),
      },
    });
  }
}

async function reconciliationOf(
  { run, client, store }: SettleOptions,
  entry: RunEntry,
): Promise<Reconciliation> {
  const reconciliation = await Reconciliation.of(client, entry, store, run);
  await reconciliation.readList();
  return reconciliation;
}

/** Finishes a run's launched batches, from its batch files alone. */
async function settle(
  { run, client }: SettleOptions,
  {
    reconciliation,
    store,
    batchesPath,
    ...state
  }: {
    readonly reconciliation: Reconciliation;
    readonly store: DriveRunOptions['store'];
    readonly batchesPath: string;
    readonly run: RunEntry;
    readonly plan: PlanEntry;
  },
  decide?: Parameters<typeof settleRun>[1],
): Promise<void> {
  const launched = new Set([
    ...paidNumbers(store.state),
    ...reconciliation.uploads.launchedNumbers(),
  ]);
  const batches = await plannedBatches(run.files, batchesPath, state.plan, launched);
  const plan = new Plan({
    layout: { columns: [], countryPosition: undefined, added: [], withOrigin: false },
    batchSize: 1,
    storage: { append: () => undefined, open: () => [] },
    seed: Buffer.from(state.run.seed, 'hex'),
  });
  for (const batch of batches) {
    for await (const line of readLines(batch)) {
      const address = addressOf(batch, line);
      if (!('key' in address)) continue;
      plan.book.table.add(groupNumber(batch.group), address.key);
      plan.book.assign(batch.id);
    }
  }
  const { maxCredits: _, onProgress, ...settings } = run;
  await settleRun(
    {
      // Launched batches were within that night's budget.
      run: {
        ...settings,
        onProgress: (progress) => {
          // The progress of another list's batches is not tonight's.
          if (progress.stage !== 'batch') onProgress?.(progress);
        },
      },
      client,
      reconciliation,
      plan,
      batches,
      store,
    },
    decide,
  );
}

async function decide(
  options: CarryOverOptions,
  change: string,
  driven: readonly DrivenBatch[],
): Promise<void> {
  const { run, store, state } = options;
  const use = await measureUse({ ...options, book: options.tonight.plan.book }, driven);
  const { onChange: way = 'auto' } = run;
  const isEnough =
    run.history !== undefined ||
    use.usedAddresses * 2 >= use.paidAddresses ||
    // Killed after its output: a query may now give only the remaining rows.
    (await run.sink.hasWritten?.(outputIdOf(state.run))) === true;
  const isForced = way === 'carry' || store.state.isCarried;
  const carried = { startedAt: state.run.startedAt, change, ...use };
  const isLossAsked =
    way === 'auto' &&
    !isForced &&
    isEnough &&
    !run.history &&
    use.usedAddresses < use.paidAddresses;
  const isRefused = isLossAsked && (await run.onCarry?.(carried)) === false;
  if (isRefused || !(isForced || isEnough)) {
    const why = isRefused
      ? `${use.usedAddresses} of ${counted(use.paidAddresses, 'paid address')} would be used again`
      : `of ${counted(use.paidAddresses, 'paid address')} it has ${use.usedAddresses}, less than half, and no history keeps the others`;
    throw refusalOf(options, change, why);
  }
  if ((way === 'carry' || (isLossAsked && run.onCarry)) && !store.state.isCarried)
    await store.record({ entry: 'carry' });
  run.onProgress?.({ stage: 'carried', ...carried });
}

function refusalOf({ run, state }: CarryOverOptions, change: string, why: string): StateError {
  return new StateError(
    `${run.source.name} or its options have changed since the run of ${startText(state.run.startedAt, new Date())}: ${change}; ${why}. Nothing was sent. Put the old list and options back to go on, add ${optionName('onChange', 'carry')} to use what there is for the new one, or start over with ${optionName('fresh')}, which pays for everything`,
    { code: 'state_mismatch' },
  );
}

/** Paid addresses of one list, and those that another needs. */
type PaidUse = Omit<CarriedRun, 'startedAt' | 'change'>;

/** Counts the paid addresses that another list has. */
async function measureUse(
  {
    store,
    state,
    book,
    run: { files },
  }: {
    readonly store: StateDirectory;
    readonly state: { readonly run: RunEntry; readonly plan: PlanEntry };
    /** The other list's, under the run's seed. */
    readonly book: AddressBook;
    readonly run: ResolvedRun;
  },
  driven: readonly DrivenBatch[],
): Promise<PaidUse> {
  const paid = driven.filter(
    (batch) => batch.state.stage !== 'failed' && mayHaveLaunched(batch.state),
  );
  // A batch that is sent again no longer counts as failed.
  const failedAddresses = driven
    .filter((each) => {
      const before = entryOf(store.state, each.batch)?.state;
      return before?.stage === 'failed' && before.launched && !paid.includes(each);
    })
    .reduce((sum, { batch }) => sum + batch.addresses, 0);
  let [usedBatches, usedAddresses] = [0, 0];
  for (const { batch } of paid) {
    let used = 0;
    for await (const line of readLines(batch)) {
      const address = addressOf(batch, line);
      if (!('key' in address)) continue;
      if (book.table.find(groupNumber(batch.group), address.key) !== -1) used += 1;
    }
    usedAddresses += used;
    if (used > 0) usedBatches += 1;
  }
  let paidAddresses = paid.reduce((sum, { batch }) => sum + batch.addresses, 0);
  const recalled = state.plan.recalled;
  if (recalled && store.state.earlier.length > 0) {
    const seed = Buffer.from(state.run.seed, 'hex');
    const entries = await readRecalled(files, store.recalledPath, seed, recalled);
    const launchedByRun = carriedUuids(store.state.earlier);
    entries.forEach((hash, place) => {
      if (!launchedByRun.has(entries.origin(entries.originAt(place)).batchUuid)) return;
      paidAddresses += 1;
      if (book.table.findHashed(hash) !== -1) usedAddresses += 1;
    });
  }
  const unfinished = paid.filter((batch) => batch.state.stage !== 'exported').length;
  return {
    paidBatches: paid.length,
    usedBatches,
    paidAddresses,
    usedAddresses,
    failedAddresses,
    unfinished,
  };
}
