import { join } from 'node:path';
import { OutputError, StateError } from '../errors/family.js';
import { isSluiceError } from '../errors/sluice-error.js';
import type { DrivenBatch } from './drive-log.js';
import type { FileSystem } from './file-system.js';
import { Journal } from './journal.js';
import { lockDirectory, type DirectoryLock } from './directory-lock.js';
import {
  journalEntry,
  type BalanceEntry,
  type BatchEntry,
  type FinishedEntry,
  type JournalEntry,
  type PlanEntry,
  type RunEntry,
} from './run-entries.js';

/** What a journal tells of a run. */
export interface KnownRun {
  readonly run: RunEntry | undefined;
  readonly plan: PlanEntry | undefined;
  readonly balance: BalanceEntry | undefined;
  readonly batches: ReadonlyMap<number, BatchEntry>;
  readonly finished: FinishedEntry | undefined;
}

/** What a run keeps on disk so that it can be killed and go on. Only its owner can read it. */
export class StateDirectory {
  readonly path: string;
  readonly batchesPath: string;
  readonly exportsPath: string;
  readonly ticketsPath: string;
  /** Where a source that cannot be read again is kept. */
  readonly inputPath: string;
  /** Where the in-process local service keeps its data. */
  readonly servicePath: string;
  readonly #files: FileSystem;
  readonly #lock: DirectoryLock;
  readonly #journal: Journal;
  readonly known: KnownRun;

  private constructor(
    files: FileSystem,
    path: string,
    lock: DirectoryLock,
    journal: Journal,
    known: KnownRun,
  ) {
    this.#files = files;
    this.#lock = lock;
    this.#journal = journal;
    this.known = known;
    this.path = path;
    this.batchesPath = join(path, 'batches');
    this.exportsPath = join(path, 'exports');
    this.ticketsPath = join(path, 'tickets');
    this.inputPath = join(path, 'input');
    this.servicePath = join(path, 'service');
  }

  /**
   * Opens a state directory, or makes one, and locks it.
   *
   * @param options.fresh drop what an unfinished run left
   * @throws StateError `state_locked`, `state_damaged`; OutputError
   */
  static async open(
    files: FileSystem,
    path: string,
    options: { readonly fresh: boolean },
  ): Promise<StateDirectory> {
    await onDisk(path, async () => files.mkdir(path, { recursive: true, mode: 0o700 }));
    const lock = await lockDirectory(files, path);
    try {
      const journalPath = join(path, 'journal');
      if (options.fresh) await onDisk(path, async () => clear(files, path));
      const { journal, entries } = await onDisk(path, async () => Journal.open(files, journalPath));
      const known = collect(entries, journalPath);
      const state = new StateDirectory(files, path, lock, journal, known);
      for (const directory of [state.batchesPath, state.exportsPath]) {
        await onDisk(path, async () => files.mkdir(directory, { recursive: true, mode: 0o700 }));
      }
      return state;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** @throws OutputError when it cannot be made safe on disk */
  async record(entry: JournalEntry): Promise<void> {
    await this.#journal.append(entry);
  }

  async recordBatch({ batch, known, name, charge }: DrivenBatch): Promise<void> {
    await this.record({
      entry: 'batch',
      batch: batch.id,
      known,
      name: name ?? '',
      charge: charge ?? null,
      at: new Date().toISOString(),
    });
  }

  /** Leaves the directory as it is, for the next process. */
  async close(): Promise<void> {
    await this.#journal.close();
    await this.#lock.release();
  }

  /** Removes the directory: the run is over. */
  async remove(): Promise<void> {
    await this.#journal.close();
    // The journal goes last: a directory without one is no run, whatever else is left in it.
    await clear(this.#files, this.path);
    await this.#lock.release();
    await this.#files.rm(this.path, { recursive: true, force: true });
  }
}

/** Removes everything but the lock. */
async function clear(files: FileSystem, path: string): Promise<void> {
  const names = await files.readdir(path);
  const order = [...names.filter((name) => name !== 'journal' && name !== 'lock'), 'journal'];
  for (const name of order) await files.rm(join(path, name), { recursive: true, force: true });
}

function collect(entries: readonly unknown[], path: string): KnownRun {
  const batches = new Map<number, BatchEntry>();
  let run: RunEntry | undefined;
  let plan: PlanEntry | undefined;
  let balance: BalanceEntry | undefined;
  let finished: FinishedEntry | undefined;
  for (const value of entries) {
    const parsed = journalEntry.safeParse(value);
    if (!parsed.success) {
      throw new StateError(
        `the journal ${path} holds an entry that this version of Sluice does not know; start over with --fresh`,
        { code: 'state_damaged', cause: parsed.error },
      );
    }
    const entry = parsed.data;
    if (entry.entry === 'run') run = entry;
    else if (entry.entry === 'plan') plan = entry;
    else if (entry.entry === 'balance') balance = entry;
    else if (entry.entry === 'finished') finished = entry;
    else batches.set(entry.batch, entry);
  }
  return { run, plan, balance, batches, finished };
}

async function onDisk<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isSluiceError(error)) throw error;
    throw new OutputError(`cannot use the state directory ${path}`, { cause: error });
  }
}
