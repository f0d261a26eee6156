import { join } from 'node:path';
import type { Batch } from '../../batches/batch.js';
import type { LineResults } from '../../results/match-export.js';
import type { OutcomeTable } from '../../results/outcome-table.js';
import {
  clear,
  droppedName,
  forget,
  journalPath,
  lockDirectory,
  folderOf,
  foldersOf,
  makeFolders,
  makeRunFolder,
  refuseFile,
  refuseForeign,
  runFolder,
  syncName,
  readStateLocation,
  recalledPathIn,
  refuseRemains,
  removeEmpty,
} from './folders.js';
import type { FileLock, LockWait } from '../../../platform/files/file-lock.js';
import { onDisk } from '../../../platform/files/disk-errors.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import { syncDirectory, type FileSystem } from '../../../platform/files/file-system.js';
import { Journal } from './journal.js';
import { hasPaid, replayJournal, emptyRunState, type RunState, spentBefore } from '../run-state.js';
import {
  LocalRunClaims,
  noOthers,
  type OutputClaim,
  type RunClaim,
  type RunStore,
} from '../run-store.js';
import { ResultStore } from '../result-store.js';
import {
  batchEntryOf,
  type JournalEntry,
  type RunEntry,
  type StateLocation,
} from '../journal-entries.js';
import type { RunScratch } from '../scratch.js';

/** The state from which a run resumes after a kill. Readable by its owner only. */
export class StateDirectory implements RunStore, RunScratch, DirectoryState {
  readonly path: string;
  readonly others = noOthers;
  readonly #files: FileSystem;
  readonly #lock: FileLock;
  #released: Promise<void> | undefined;
  #journal: Journal;
  #state: RunState;
  #claims: LocalRunClaims;

  private constructor(
    files: FileSystem,
    path: string,
    lock: FileLock,
    opened: { readonly journal: Journal; readonly state: RunState },
  ) {
    this.#files = files;
    this.path = path;
    this.#lock = lock;
    this.#journal = opened.journal;
    this.#state = opened.state;
    this.#claims = this.#localClaims();
  }

  /** Opens and locks a state directory; makes it when missing. @param options.fresh drops an unfinished run */
  static async open(
    files: FileSystem,
    path: string,
    options: { readonly fresh: boolean } & LockWait,
  ): Promise<StateDirectory> {
    const doing = `use the state directory ${path}`;
    return onDisk(doing, async () => {
      const made = await makeRunFolder(files, path).catch(async (error: unknown) => {
        // A broken link is reported as one.
        await files.checkPrivateFolder(path);
        refuseFile(path, error);
        throw error;
      });
      refuseForeign(path, await files.readdir(path));
      await files.checkPrivateFolder(path);
      const lock = await lockDirectory(files, path, options);
      try {
        await syncName(files, path, made);
        if (options.fresh) await forget(files, path);
        return new StateDirectory(files, path, lock, await openJournal(files, path));
      } catch (error) {
        await lock.release();
        throw error;
      }
    });
  }

  get state(): RunState {
    return this.#state;
  }

  get batchesPath(): string {
    return join(this.path, folderOf('batches', this.#state.generation));
  }

  of({ generation }: { readonly generation: number }): RunFolders {
    return foldersAt(this.#files, this.path, generation);
  }

  get ticketsPath(): string {
    return join(this.path, 'tickets');
  }

  /** Folder for numbering a large list: not needed after the planning. */
  get partitionsPath(): string {
    return join(this.path, 'partitions');
  }

  get recalledPath(): string {
    return recalledPathIn(this.path);
  }

  get inputPath(): string {
    return join(this.path, this.#state.kept?.file ?? 'input');
  }

  /** Folder for the in-process local service's data. */
  get servicePath(): string {
    return join(this.path, 'service');
  }

  async place(): Promise<StateLocation | undefined> {
    return readStateLocation(this.#files, this.path);
  }

  async record(entry: JournalEntry): Promise<void> {
    await this.#journal.append(entry);
  }

  /** The lock covers the output, too. */
  async claimOutput(): Promise<OutputClaim> {
    return {
      confirm: async () => undefined,
      finish: async (summary) => this.record({ entry: 'finished', summary }),
    };
  }

  /** The lock covers all batches. */
  #localClaims(begun = this.#state): LocalRunClaims {
    return new LocalRunClaims(this.#state, {
      spent: spentBefore(begun),
      record: async (progress, at = new Date().toISOString()) =>
        this.record(batchEntryOf(progress, at)),
      keepResults: async (...kept) => this.of(this.#state).results.keep(...kept),
    });
  }

  /** Begins a run. A known one is replaced in a single write. Its paid results stay while the new one needs them. */
  async begin(entry: RunEntry): Promise<void> {
    if (!this.#state.run) return this.record(entry);
    const generation = this.#state.generation + 1;
    await onDisk(`use the state directory ${this.path}`, async () => {
      await makeFolders(this.#files, this.path, generation);
      await syncDirectory(this.#files, this.path);
    });
    await this.record(entry);
    const path = journalPath(this.path);
    const state = await onDisk(`read ${path}`, async () =>
      replayJournal(await Journal.read(this.#files, path), path),
    );
    // No earlier process has worked on it.
    this.#state = { ...state, run: undefined };
    this.#claims = this.#localClaims(state);
    await this.#dropUnused();
  }

  async claim(wanted: Iterable<Batch>): Promise<readonly RunClaim[]> {
    return this.#claims.claim(wanted);
  }

  async readResults(batch: Batch, outcomes: OutcomeTable): Promise<LineResults> {
    return this.of(this.#state).results.read(batch, outcomes);
  }

  async hasResults(batch: Batch): Promise<boolean> {
    return this.of(this.#state).results.has(batch);
  }

  /** Removes the batches of runs that have launched nothing. What cannot be removed goes later with the rest. */
  async #dropUnused(): Promise<void> {
    const { earlier, generation } = this.#state;
    const used = earlier.filter(hasPaid).map((run) => run.generation);
    const names = [...used, generation].flatMap(foldersOf);
    const found = await this.#files.readdir(this.path).catch(() => []);
    for (const name of found) {
      if (!runFolder.test(name) || names.includes(name)) continue;
      await this.#files.rm(join(this.path, name), { recursive: true, force: true }).catch(() => {});
    }
  }

  /** Drops the known run; the directory stays held. @throws OutputError */
  async startOver(): Promise<void> {
    await this.#journal.close();
    await onDisk(`clear the state directory ${this.path}`, async () => {
      await forget(this.#files, this.path);
      ({ journal: this.#journal } = await openJournal(this.#files, this.path));
    });
    this.#state = emptyRunState;
    this.#claims = this.#localClaims();
  }

  async close(): Promise<void> {
    await this.#journal.close();
    await this.#release();
  }

  /** Releases it for another process; may be called again. */
  async #release(): Promise<void> {
    this.#released ??= this.#lock.release();
    await this.#released;
  }

  /** Removes all but the journal, which proves until its removal that the run is over. */
  async clear(): Promise<void> {
    await this.#journal.close();
    await onDisk(`clear the state directory ${this.path}`, async () =>
      clear(this.#files, this.path),
    );
  }

  async remove(): Promise<void> {
    await this.#journal.close();
    try {
      await onDisk(`remove the state directory ${this.path}`, async () =>
        this.#files.rm(journalPath(this.path), { force: true }),
      );
      await removeEmpty(this.#files, this.path);
    } finally {
      await this.#release();
    }
  }
}

interface RunFolders {
  readonly batchesPath: string;
  readonly results: ResultStore;
}

function foldersAt(files: FileSystem, path: string, generation: number): RunFolders {
  return {
    batchesPath: join(path, folderOf('batches', generation)),
    results: new ResultStore(files, join(path, folderOf('results', generation))),
  };
}

async function openJournal(
  files: FileSystem,
  path: string,
): Promise<{ readonly journal: Journal; readonly state: RunState }> {
  if ((await files.readdir(path)).includes(droppedName)) await forget(files, path);
  // Before the journal, whose opening syncs every name in the directory.
  await makeFolders(files, path, 1);
  const { journal, entries } = await Journal.open(files, journalPath(path));
  try {
    if (entries.length === 0) await refuseRemains(files, path);
    const state = replayJournal(entries, journalPath(path));
    // They are gone where the run was over and is not asked for again.
    await makeFolders(files, path, state.generation);
    return { journal, state };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/** Reads the journal of a state directory without locking it. @returns `undefined` without a journal */
export async function readRunState(files: FileSystem, path: string): Promise<RunState | undefined> {
  return onDisk(`read the state directory ${path}`, async () => {
    const entries = await Journal.read(files, journalPath(path)).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return undefined;
      throw error;
    });
    if (!entries) return undefined;
    await files.checkPrivateFolder(path);
    return replayJournal(entries, journalPath(path));
  });
}

/** What a state directory has of its run, read without locking it. */
export interface DirectoryState {
  readonly path: string;
  readonly state: RunState;
  readonly recalledPath: string;
  /** Paths of a run's batches and results. */
  of(run: { readonly generation: number }): RunFolders;
  /** Distinguishes it from copies, as far as the system can. */
  place(): Promise<StateLocation | undefined>;
}

/** @returns `undefined` without a journal */
export async function readDirectoryState(
  files: FileSystem,
  path: string,
): Promise<DirectoryState | undefined> {
  const state = await readRunState(files, path);
  return (
    state && {
      path,
      state,
      of: ({ generation }) => foldersAt(files, path, generation),
      recalledPath: recalledPathIn(path),
      place: async () => readStateLocation(files, path),
    }
  );
}
