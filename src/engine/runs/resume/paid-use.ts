import { groupNumber } from '../../addresses/batch-group.js';
import type { AddressBook } from '../../plan/address-book.js';
import { mayHaveLaunched } from '../../batches/batch-state.js';
import { readLines } from '../../batches/read-lines.js';
import { addressOf } from '../../plan/result-join.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { carriedUuids } from './carried-results.js';
import type { DrivenBatch } from '../../batches/drive-log.js';
import { readRecalled } from '../planning/recalled-file.js';
import { entryOf } from '../../stores/run-state.js';
import type { PlanEntry, RunEntry } from '../../stores/run-entries.js';
import type { CarriedRun } from '../reporting/run-progress.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';

/** What was paid for of a list, and what of it another list needs. */
export type PaidUse = Omit<CarriedRun, 'startedAt' | 'change'>;

/** Looks which of the addresses that a run has paid for another list has. @throws OutputError, StateError */
export async function measureUse(
  {
    state,
    known,
    book,
    files,
  }: {
    readonly state: StateDirectory;
    readonly known: { readonly run: RunEntry; readonly plan: PlanEntry };
    /** Of the other list, under the seed of the run. */
    readonly book: AddressBook;
    readonly files: FileSystem;
  },
  driven: readonly DrivenBatch[],
): Promise<PaidUse> {
  const paid = driven.filter(
    (batch) => batch.known.stage !== 'failed' && mayHaveLaunched(batch.known),
  );
  // One that is sent again is not known as failed any more.
  const failedAddresses = driven
    .filter((each) => {
      const before = entryOf(state.known, each.batch)?.known;
      return before?.stage === 'failed' && before.launched && !paid.includes(each);
    })
    .reduce((sum, { batch }) => sum + batch.addresses, 0);
  let [usedBatches, usedAddresses] = [0, 0];
  for (const { batch } of paid) {
    let used = 0;
    for await (const line of readLines(batch)) {
      const address = addressOf(batch, line);
      if (!('key' in address)) continue;
      if (book.find(groupNumber(batch.group), address.key) !== -1) used += 1;
    }
    usedAddresses += used;
    if (used > 0) usedBatches += 1;
  }
  let paidAddresses = paid.reduce((sum, { batch }) => sum + batch.addresses, 0);
  const told = known.plan.recalled;
  if (told && state.known.earlier.length > 0) {
    const seed = Buffer.from(known.run.seed, 'hex');
    const entries = await readRecalled(files, state.recalledPath, seed, told);
    const own = carriedUuids(state.known.earlier);
    entries.forEach((hash, place) => {
      if (!own.has(entries.origin(entries.originAt(place)).batchUuid)) return;
      paidAddresses += 1;
      if (book.findHashed(hash) !== -1) usedAddresses += 1;
    });
  }
  const unfinished = paid.filter((batch) => batch.known.stage !== 'exported').length;
  return {
    paidBatches: paid.length,
    usedBatches,
    paidAddresses,
    usedAddresses,
    failedAddresses,
    unfinished,
  };
}
