import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { StateError } from '../../../platform/errors/errors.js';
import { closeFile, type FileSystem, makeSafe } from '../../../platform/files/file-system.js';
import { onDisk } from '../../../platform/files/disk-errors.js';
import type { HashWords } from '../../../platform/hashing/address-table.js';
import { type FieldOptions, wantsOrigin } from '../../columns/added-fields.js';
import { FrameBuilder, HistoryEntries } from '../../history/history-entries.js';
import { readFrames, encodeFrame, type Frame } from '../../history/history-file.js';
import { HistoryRecall } from '../../history/history-lookup.js';
import type { History } from '../../history/history.js';
import type { Recall } from '../../plan/result-cache.js';
import type { OutcomeTable } from '../../results/outcome-table.js';
import type { PlanEntry } from '../../stores/journal-entries.js';
import type { RunState } from '../../stores/run-state.js';
import { uuidsOf } from '../resume/earlier-results.js';
import { optionName } from '../../../platform/text/sentence.js';

/** The journal's note of the used history. */
type RecalledEntry = NonNullable<PlanEntry['recalled']>;

/**
 * Records which earlier results a run uses. Decided once: the history grows and ages, also by the run itself,
 * but a resumed run must make the same batches.
 */
class RecalledWriter implements Recall {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #onMissing: ((hash: HashWords) => void) | undefined;
  #recalls: readonly HistoryRecall[] = [];
  readonly #full: Frame[] = [];
  readonly #builder = new FrameBuilder();
  #addresses = 0;
  #checksum = 0;

  private constructor({ files, recalledPath, onMissing }: RecallOptions, file: FileHandle) {
    this.#files = files;
    this.#path = recalledPath;
    this.#onMissing = onMissing;
    this.#file = file;
  }

  static async create(options: RecallOptions): Promise<RecalledWriter> {
    const { files, recalledPath: path } = options;
    const file = await onDisk(`write ${path}`, async () => files.open(path, 'w', 0o600));
    return new RecalledWriter(options, file);
  }

  /** Takes each result from the first source that has it. */
  from(recalls: readonly HistoryRecall[]): this {
    this.#recalls = recalls;
    return this;
  }

  outcomeOf(hash: HashWords): number {
    for (const recall of this.#recalls) {
      const outcome = recall.outcomeOf(hash);
      if (outcome === -1) continue;
      const { outcomeKey, origin } = recall.latest();
      this.#builder.add(hash, outcomeKey, origin);
      this.#addresses += 1;
      if (this.#builder.isFull) this.#full.push(this.#builder.take());
      return outcome;
    }
    this.#onMissing?.(hash);
    return -1;
  }

  async flush(): Promise<void> {
    for (let frame = this.#full.shift(); frame; frame = this.#full.shift()) {
      const bytes = encodeFrame(frame);
      this.#checksum = crc32(bytes, this.#checksum);
      await onDisk(`write ${this.#path}`, async () => this.#file.appendFile(bytes));
    }
  }

  /** Syncs it, before the journal records the plan. */
  async finish(): Promise<RecalledEntry> {
    if (!this.#builder.isEmpty) this.#full.push(this.#builder.take());
    await this.flush();
    await onDisk(`write ${this.#path}`, async () => makeSafe(this.#files, this.#file, this.#path));
    return { addresses: this.#addresses, checksum: this.#checksum };
  }

  async close(): Promise<void> {
    await closeFile(this.#file);
  }
}

export async function readRecalled(
  files: FileSystem,
  path: string,
  seed: Uint8Array,
  entry: RecalledEntry,
): Promise<HistoryEntries> {
  const entries = new HistoryEntries(seed);
  const damaged = (cause?: unknown): StateError =>
    new StateError(
      `${path} is damaged; restore it, or start over with ${optionName('fresh')}, which pays again`,
      { code: 'state_damaged', cause, file: path },
    );
  let checksum = 0;
  await onDisk(`read ${path}`, async () => {
    const file = await files.open(path, 'r');
    try {
      await readFrames(file, path, (frame) => {
        checksum = crc32(encodeFrame(frame), checksum);
        if (!entries.take(frame)) throw damaged();
      });
    } catch (error) {
      throw error instanceof StateError ? damaged(error) : error;
    } finally {
      await closeFile(file);
    }
  });
  if (entries.size !== entry.addresses || checksum !== entry.checksum) throw damaged();
  return entries;
}

export interface OpenRecall {
  recall(outcomes: OutcomeTable): Recall;
  flush(): Promise<void>;
  /** @returns the entry for the journal */
  finish(): Promise<RecalledEntry>;
  close(): Promise<void>;
}

export interface RecallOptions extends FieldOptions {
  /** The run's: its plan has decided, and those before it have results. */
  readonly state: RunState;
  readonly recalledPath: string;
  readonly files: FileSystem;
  readonly seed: Uint8Array;
  readonly history?: History | undefined;
  /** Paid results of earlier runs, under the seed. @default none */
  readonly carried?: (seed: Uint8Array) => Promise<HistoryEntries>;
  /** Called with each address that has no earlier result. */
  readonly onMissing?: ((hash: HashWords) => void) | undefined;
}

/**
 * A run looks up earlier runs and the history once, and records the results; once its plan counts, only that
 * record is used.
 *
 * @returns `undefined` where it has neither
 */
export async function openRecall(options: RecallOptions): Promise<OpenRecall | undefined> {
  const { state, recalledPath, files, seed, history } = options;
  const withOrigin = wantsOrigin(options);
  const { plan, earlier } = state;
  const launchedByRun = uuidsOf(earlier);
  if (plan) {
    const entry = plan.recalled;
    if (!entry) return undefined;
    const entries = await readRecalled(files, recalledPath, seed, entry);
    return {
      recall: (outcomes) => new HistoryRecall(entries, outcomes, { withOrigin, launchedByRun }),
      flush: async () => undefined,
      finish: async () => entry,
      close: async () => undefined,
    };
  }
  if (!history && earlier.length === 0) return undefined;
  const carried = await options.carried?.(seed);
  const writer = await RecalledWriter.create(options);
  return {
    recall: (outcomes) =>
      writer.from([
        // Results paid this night count, whatever age the history accepts.
        ...(carried ? [new HistoryRecall(carried, outcomes, { withOrigin, launchedByRun })] : []),
        ...(history ? [history.recall(outcomes, withOrigin)] : []),
      ]),
    flush: async () => writer.flush(),
    finish: async () => writer.finish(),
    close: async () => writer.close(),
  };
}
