import type { Client } from '../../../client/client.js';
import { StateError } from '../../../platform/errors/errors.js';
import { counted, startText } from '../../../platform/text/shown-numbers.js';
import { groupNumber } from '../../addresses/address.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { type BatchState, mayHaveLaunched } from '../../batches/batch-state.js';
import { type Batch, readLines } from '../../batches/batch.js';
import type { AddressBook } from '../../plan/address-book.js';
import { Plan } from '../../plan/plan.js';
import { addressOf } from '../../plan/result-join.js';
import { LocalRunClaims } from '../../stores/directory/local-claims.js';
import type { DirectoryState, StateDirectory } from '../../stores/directory/state-directory.js';
import { outputIdOf, type PlanEntry, type RunEntry } from '../../stores/journal-entries.js';
import { entryOf, hasPaid, emptyRunState } from '../../stores/run-state.js';
import type { BatchStore } from '../../stores/run-store.js';
import { settleRun } from '../execution/run-driver.js';
import type { ComparedRun, ResolvedRun } from '../options/run-options.js';
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
  if (change !== undefined) refuseChange({ run, state, change });
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
        record: async () => undefined,
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
    readonly store: BatchStore;
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
  const changed = { run, store, state, change };
  const { carried, isLossAsked } = await judgeUse(changed, options.tonight.plan.book, driven);
  if (isLossAsked && (await run.onCarry?.(carried)) === false) {
    const { usedAddresses, paidAddresses } = carried;
    throw refusalOf(
      changed,
      `${usedAddresses} of ${counted(paidAddresses, 'paid address')} would be used again`,
      paidAddresses - usedAddresses,
    );
  }
  if ((run.onChange === 'carry' || (isLossAsked && run.onCarry)) && !store.state.isCarried)
    await store.record({ entry: 'carry' });
  run.onProgress?.({ stage: 'carried', ...carried });
}

/** A run whose list has changed. */
interface ChangedRun {
  readonly run: ComparedRun;
  readonly store: DirectoryState;
  /** The run, and its plan. */
  readonly state: { readonly run: RunEntry; readonly plan: PlanEntry };
  /** The change, as text. */
  readonly change: string;
}

/** @throws StateError `state_mismatch` where a changed list ends the run */
export function refuseChange(changed: Omit<ChangedRun, 'store'>): void {
  if (changed.run.onChange === 'stop') {
    throw refusalOf(changed, `${optionName('onChange', 'stop')} ends the run here`);
  }
}

/**
 * Whether what a run has paid is used for the changed list.
 *
 * @param book the changed list's, under the run's seed
 * @param known the run's batches
 * @returns the use, and whether a person is to be asked first, as some of it would be lost
 * @throws StateError `state_mismatch` where too little of it is of use
 */
export async function judgeUse(
  changed: ChangedRun,
  book: AddressBook,
  known: readonly KnownBatch[],
): Promise<{ readonly carried: CarriedRun; readonly isLossAsked: boolean }> {
  const { run, store, state, change } = changed;
  const use = await measureUse(changed, book, known);
  const { usedAddresses: used, paidAddresses: paid } = use;
  const isForced = run.onChange === 'carry' || store.state.isCarried;
  const isEnough =
    run.history !== undefined ||
    used * 2 >= paid ||
    // Killed after its output: a query may now give only the remaining rows.
    (await run.sink?.hasWritten?.(outputIdOf(state.run))) === true;
  if (!isForced && !isEnough) {
    throw refusalOf(
      changed,
      `of ${counted(paid, 'paid address')} it has ${used}, less than half, and no history keeps the others`,
      paid - used,
    );
  }
  const isAuto = (run.onChange ?? 'auto') === 'auto';
  return {
    carried: { startedAt: state.run.startedAt, change, ...use },
    isLossAsked: isAuto && !isForced && !run.history && used < paid,
  };
}

/** @param lost paid addresses that the new list does not have, as far as known */
function refusalOf(
  { run, state, change }: Omit<ChangedRun, 'store'>,
  why: string,
  lost = 0,
): StateError {
  const known = state.run.decides['limit'];
  const isTrial = run.limit !== undefined && !(typeof known === 'number' && known < run.limit);
  const ways = [
    'put the old list and options back to go on',
    ...(isTrial ? [`name another ${optionName('sink')} for a trial beside that run`] : []),
    `add ${optionName('onChange', 'carry')} to use what there is for the new one${lost > 0 ? `, which loses ${counted(lost, 'paid result')}` : ''}`,
    `start over with ${optionName('fresh')}, which pays for everything again`,
  ];
  return new StateError(
    `${run.source.name} or its options have changed since the run of ${startText(state.run.startedAt, new Date())}: ${change}; ${why}. Nothing was sent. Ways on: ${ways.join('; ')}`,
    { code: 'state_mismatch' },
  );
}

interface KnownBatch {
  readonly batch: Batch;
  readonly state: BatchState;
}

/** Paid addresses of one list, and those that another needs. */
type PaidUse = Omit<CarriedRun, 'startedAt' | 'change'>;

/** Counts the paid addresses that another list has. */
async function measureUse(
  { store, state, run }: ChangedRun,
  book: AddressBook,
  known: readonly KnownBatch[],
): Promise<PaidUse> {
  const paid = known.filter(
    (batch) => batch.state.stage !== 'failed' && mayHaveLaunched(batch.state),
  );
  // A batch that is sent again no longer counts as failed.
  const failedAddresses = known
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
    const entries = await readRecalled(run.files, store.recalledPath, seed, recalled);
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
