import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { countryCodes } from '../../../contract/countries.js';
import { verificationTypes } from '../../../contract/enums.js';
import { StateError } from '../../../platform/errors/errors.js';
import {
  type FileSystem,
  readFileBytes,
  makeAllSafe,
} from '../../../platform/files/file-system.js';
import { onDisk } from '../../../platform/files/disk-errors.js';
import { mayHaveLaunched } from '../../batches/batch-state.js';
import { type Batch, batchLabel, halveBatch } from '../../batches/batch.js';
import type { BatchStorage } from '../../plan/batch-cutter.js';
import { damaged } from '../../stores/directory/journal.js';
import type { DirectoryState } from '../../stores/directory/state-directory.js';
import type { BatchEntry, PartEntry, PlanEntry } from '../../stores/journal-entries.js';
import type { EarlierRun, JournaledBatches } from '../../stores/run-state.js';
import { optionName } from '../../../platform/text/sentence.js';

/**
 * Keeps the TXT files of batches in a directory. They identify launched addresses when the source has
 * changed: they are safe before anything is sent, and written once.
 */
export class DiskStorage implements BatchStorage {
  readonly #files: FileSystem;
  readonly #directory: string;
  /** Batches whose files are complete on disk: appended lines are the same. */
  readonly #whole = new Set<number>();
  #pending = new Map<number, Uint8Array[]>();
  readonly #begun = new Set<number>();

  constructor(files: FileSystem, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  /** Keeps the complete files of an earlier process. @param checksums of the batches */
  async keepWhole(checksums: readonly number[]): Promise<void> {
    const names = await onDisk(`read ${this.#directory}`, async () =>
      this.#files.readdir(this.#directory),
    );
    for (const [batch, checksum] of checksums.entries()) {
      if (!names.includes(batchFileName(batch))) continue;
      const found = await measure(this.open(batch));
      if (found.checksum === checksum) this.#whole.add(batch);
    }
  }

  append(batch: number, block: Uint8Array): void {
    if (this.#whole.has(batch)) return;
    const blocks = this.#pending.get(batch);
    if (blocks) blocks.push(block);
    else this.#pending.set(batch, [block]);
  }

  async flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [batch, blocks] of pending) await this.#write(batch, blocks);
  }

  /** Once this returns, the files survive a power cut. */
  async makeSafe(): Promise<void> {
    if (this.#begun.size === 0) return;
    const names = Array.from(this.#begun, batchFileName);
    await onDisk(`write a batch into ${this.#directory}`, async () =>
      makeAllSafe(this.#files, this.#directory, names),
    );
  }

  /** A chunk is valid until the one after the next is requested. */
  open(batch: number): AsyncIterable<Uint8Array> {
    return readFileBytes(this.#files, this.#path(batch), true);
  }

  async #write(batch: number, blocks: readonly Uint8Array[]): Promise<void> {
    await onDisk(`write a batch into ${this.#directory}`, async () => {
      const flags = this.#begun.has(batch) ? 'a' : 'w';
      const file = await this.#files.open(this.#path(batch), flags, 0o600);
      this.#begun.add(batch);
      try {
        for (const block of blocks) await file.appendFile(block);
      } finally {
        await file.close();
      }
    });
  }

  #path(batch: number): string {
    return join(this.#directory, batchFileName(batch));
  }
}

function batchFileName(batch: number): string {
  return `${String(batch + 1).padStart(6, '0')}.txt`;
}

async function measure(
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly sizeBytes: number; readonly checksum: number }> {
  let [sizeBytes, checksum] = [0, 0];
  for await (const chunk of bytes) {
    sizeBytes += chunk.length;
    checksum = crc32(chunk, checksum);
  }
  return { sizeBytes, checksum };
}

/**
 * The batches of a run's plan, from their files alone: the source may have changed.
 *
 * @param paid numbers of batches that may be paid for: of the others only complete ones are given
 * @throws StateError `state_damaged` when a file has changed; OutputError
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
export function paidNumbers({ batches }: JournaledBatches): ReadonlySet<number> {
  const paid = [...batches.values()].filter(({ state }) => mayHaveLaunched(state));
  return new Set(paid.map(({ batch }) => batch));
}

interface EarlierBatch {
  readonly batch: Batch;
  readonly entry: BatchEntry | PartEntry;
}

/** Batches of which an earlier run has sent something; parts in place of split ones. */
export async function earlierBatches(
  files: FileSystem,
  stored: DirectoryState,
  run: EarlierRun,
): Promise<readonly EarlierBatch[]> {
  const { batchesPath } = stored.of(run);
  const batches = await plannedBatches(files, batchesPath, run.plan, paidNumbers(run));
  const found: EarlierBatch[] = [];
  for await (const { batch, entry } of recordedBatches(batches, run)) {
    if (entry) found.push({ batch, entry });
  }
  return found;
}

/** Batches with what a run has recorded of them; parts in place of split ones. */
export async function* recordedBatches(
  batches: readonly Batch[],
  recorded: JournaledBatches,
): AsyncGenerator<Pick<EarlierBatch, 'batch'> & Partial<EarlierBatch>> {
  for (const batch of batches) {
    const entry = recorded.batches.get(batchLabel(batch));
    if (entry?.state.stage !== 'split') yield { batch, ...(entry && { entry }) };
    else yield* recordedBatches(await halveBatch(batch), recorded);
  }
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
    `the list has changed, and the batches in ${path} are damaged: what was paid for cannot be used for another list. Put the old list back to go on, or start over with ${optionName('fresh')}, which pays again`,
    { code: 'state_damaged', file: path },
  );
}
