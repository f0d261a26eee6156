import { batchLabel } from '../../batches/batch-label.js';
import type { Batch } from '../../batches/batch.js';
import { mayHaveLaunched } from '../../batches/batch-state.js';
import { halveBatch } from '../../batches/halve-batch.js';
import { countryCodes } from '../../../contract/countries.js';
import { verificationTypes } from '../../../contract/enums.js';
import { StateError } from '../../../platform/errors/errors.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { batchFileName, DiskStorage, measure } from './disk-storage.js';
import { onDisk } from '../../../platform/files/on-disk.js';
import { damaged } from '../../stores/directory/journal-lines.js';
import type { EarlierRun } from '../../stores/run-state.js';
import type { BatchEntry, PartEntry, PlanEntry } from '../../stores/run-entries.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';

/**
 * The batches of a run's plan, from their files alone: its source may hold something else by now.
 *
 * @param paid numbers of those that may be paid for: of the others only those that are whole are given
 * @throws StateError `state_damaged` when a file is not as it was written; OutputError
 */
export async function plannedBatches(
  files: FileSystem,
  batchesPath: string,
  plan: PlanEntry,
  paid: ReadonlySet<number>,
): Promise<readonly Batch[]> {
  const storage = new DiskStorage(files, batchesPath);
  const names = await onDisk(`read ${batchesPath}`, async () => files.readdir(batchesPath));
  const batches: Batch[] = [];
  for (const [id, { type, country, addresses, checksum }] of plan.batches.entries()) {
    const open = (): AsyncIterable<Uint8Array> => storage.open(id);
    const found = names.includes(batchFileName(id)) ? await measure(open()) : undefined;
    if (found?.checksum !== checksum) {
      if (paid.has(id)) throw damagedBatches(batchesPath);
      continue;
    }
    const group = groupOf(type, country, batchesPath);
    batches.push({ id, group, addresses, checksum, sizeBytes: found.sizeBytes, open });
  }
  return batches;
}

/** Numbers of the batches that may be paid for, as a journal knows them. */
export function paidNumbers({ batches }: Pick<EarlierRun, 'batches'>): ReadonlySet<number> {
  const paid = [...batches.values()].filter(({ known }) => mayHaveLaunched(known));
  return new Set(paid.map(({ batch }) => batch));
}

/** A batch of an earlier run, or a part of one, with what is known of it. */
export interface EarlierBatch {
  readonly batch: Batch;
  readonly entry: BatchEntry | PartEntry;
}

/** Those that an earlier run has sent something of; the parts in the place of what was split. */
export async function earlierBatches(
  files: FileSystem,
  state: StateDirectory,
  run: EarlierRun,
): Promise<readonly EarlierBatch[]> {
  const found: EarlierBatch[] = [];
  const take = async (batch: Batch): Promise<void> => {
    const entry = run.batches.get(batchLabel(batch));
    if (!entry) return;
    if (entry.known.stage !== 'split') found.push({ batch, entry });
    else for (const part of await halveBatch(batch)) await take(part);
  };
  const { batchesPath } = state.of(run);
  for (const batch of await plannedBatches(files, batchesPath, run.plan, paidNumbers(run))) {
    await take(batch);
  }
  return found;
}

function groupOf(type: string, country: string, path: string): Batch['group'] {
  const group = {
    type: verificationTypes.find((known) => known === type),
    country: countryCodes.find((known) => known === country),
  };
  if (group.type && group.country) return { type: group.type, country: group.country };
  throw damaged(path, `: it names a batch of ${type} in ${country}`);
}

function damagedBatches(path: string): StateError {
  return new StateError(
    `the list has changed, and the batches in ${path} are damaged: what was paid for cannot be used for another list. Put the old list back to go on, or start over with \`fresh\`, which pays again`,
    { code: 'state_damaged' },
  );
}
