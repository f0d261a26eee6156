import type { Client } from '../../../client/client.js';
import { counted } from '../../../platform/text/shown-numbers.js';
import { groupNumber } from '../../addresses/address.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { isSentAgain } from '../../batches/batch-state.js';
import { readLines } from '../../batches/batch.js';
import { Plan } from '../../plan/plan.js';
import { addressOf } from '../../plan/line-hashes.js';
import { LocalRunClaims, noOthers, type BatchStore } from '../../stores/run-store.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';
import { batchEntryOf, type PlanEntry, type RunEntry } from '../../stores/journal-entries.js';
import { emptyRunState, hasPaid } from '../../stores/run-state.js';
import { RunDriver } from '../execution/run-driver.js';
import type { ResolvedRun } from '../options/run-options.js';
import { paidNumbers, plannedBatches } from '../planning/batch-files.js';
import type { PlannedInput } from '../planning/plan-input.js';
import { type Differences, takesUp } from './compare-run.js';
import { judgeUse, refusalOf, refuseChange } from './changed-input.js';
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
  /** `undefined` where only failed addresses are sent again. */
  readonly change: Differences | undefined;
  /** Called once nothing refuses a changed list any more. */
  readonly onJudged: () => void;
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
 * Requests the paid exports again that were not accepted before the list changed, and takes up what else has
 * failed where that is asked for.
 *
 * @throws what stops the batches
 */
export async function retryEarlier(options: SettleOptions): Promise<void> {
  const { store } = options;
  const { retryFailed } = options.run;
  const takenUp = store.state.earlier.filter((each) => hasPaid(each) && takesUp(each, retryFailed));
  for (const earlier of takenUp) {
    const { batchesPath, results } = store.of(earlier);
    const { run, plan, batches } = earlier;
    const state = { ...emptyRunState, run, plan, batches };
    const claims = new LocalRunClaims(state, {
      // Nothing of it is launched any more: beside stored results only what is lost is recorded.
      record: async (progress, at = earlier.run.startedAt) => {
        if (!isSentAgain(progress.state, true)) return;
        await store.record({ ...batchEntryOf(progress, at), generation: earlier.generation });
      },
      keepResults: async (...kept) => results.keep(...kept),
    });
    await settle(options, {
      reconciliation: await reconciliationOf(options, run),
      run,
      plan,
      batchesPath,
      store: {
        state,
        others: noOthers,
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
  decide?: (batches: readonly DrivenBatch[]) => Promise<void>,
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
  await new RunDriver({
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
  }).toSettled(decide);
}

async function decide(
  options: CarryOverOptions,
  change: Differences,
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
  options.onJudged();
  run.onProgress?.({ stage: 'carried', ...carried });
}
