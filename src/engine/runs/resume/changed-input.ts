import { StateError } from '../../../platform/errors/errors.js';
import { counted, startText } from '../../../platform/text/shown-numbers.js';
import { groupNumber } from '../../addresses/address.js';
import { type BatchState, mayHaveLaunched } from '../../batches/batch-state.js';
import { type Batch, readLines } from '../../batches/batch.js';
import type { AddressBook } from '../../plan/address-book.js';
import { addressOf } from '../../plan/line-hashes.js';
import type { DirectoryState } from '../../stores/directory/state-directory.js';
import { outputIdOf, type PlanEntry, type RunEntry } from '../../stores/journal-entries.js';
import { entryOf } from '../../stores/run-state.js';
import type { ComparedRun } from '../options/run-options.js';
import { readRecalled } from '../planning/recalled-results.js';
import type { CarriedRun } from '../reporting/run-progress.js';
import type { Differences } from './compare-run.js';
import { uuidsOf } from './earlier-results.js';
import { optionName } from '../../../platform/text/sentence.js';

/** A run whose list has changed. */
interface ChangedRun {
  readonly run: ComparedRun;
  readonly store: DirectoryState;
  readonly state: { readonly run: RunEntry; readonly plan: PlanEntry };
  readonly change: Differences;
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
    carried: {
      startedAt: state.run.startedAt,
      change: change.text,
      ...use,
      hasHistory: run.history !== undefined,
    },
    isLossAsked: isAuto && !isForced && !run.history && used < paid,
  };
}

/** @param unused paid addresses that the new list does not have, as far as known */
export function refusalOf(
  { run, state, change }: Omit<ChangedRun, 'store'>,
  why: string,
  unused = 0,
): StateError {
  const known = state.run.decides['limit'];
  const isTrial = run.limit !== undefined && !(typeof known === 'number' && known < run.limit);
  const losesPaid = unused > 0 && run.history === undefined;
  const ways = [
    ...(losesPaid
      ? [
          `add ${optionName('history')} to this command (a new file), which keeps all that was paid for`,
        ]
      : []),
    'put the old list and options back to go on',
    ...(isTrial ? [`name another ${optionName('sink')} for a trial beside that run`] : []),
    `add ${optionName('onChange', 'carry')} to use what there is for the new one${unused > 0 ? `, which loses ${counted(unused, 'paid result')}` : ''}`,
    `start over with ${optionName('fresh')}, which pays for everything again`,
  ];
  return new StateError(
    `${run.source.name}: the unfinished run of ${startText(state.run.startedAt, new Date())} differs (${change.text}): ${why}. Nothing was sent. Ways on: ${ways.join('; ')}`,
    { code: 'state_mismatch', option: losesPaid ? 'history' : 'onChange', differs: change.options },
  );
}

interface KnownBatch {
  readonly batch: Batch;
  readonly state: BatchState;
}

/** Paid addresses of one list, and those that another needs. */
type PaidUse = Omit<CarriedRun, 'startedAt' | 'change' | 'hasHistory'>;

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
  let failedAddresses = known
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
    const launchedByRun = uuidsOf(store.state.earlier);
    entries.forEach((hash, place) => {
      if (!launchedByRun.has(entries.origin(entries.originAt(place)).batchUuid)) return;
      if (entries.outcome(entries.outcomeAt(place)).verification === 'failed') {
        failedAddresses += 1;
        return;
      }
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
