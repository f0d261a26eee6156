import type { VerificationType } from '../../contract/enums.js';
import { type BatchClaim, type BatchProgress, LocalClaims } from '../batches/claim.js';
import { type Batch, batchLabel } from '../batches/batch.js';
import type { RateMember, SharedRate } from '../../client/rate/shared-rate.js';
import type { LineResults } from '../results/match-export.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { Clock } from '../../platform/waiting/clock.js';
import { orAborted } from '../../platform/waiting/promises.js';
import { type BatchTimes, noTimes } from '../batches/batch-log.js';
import { type RunState, entryOf } from './run-state.js';
import type {
  BatchEntry,
  BudgetEntry,
  FinishedEntry,
  JournalEntry,
  PartEntry,
  PlanEntry,
  RunEntry,
  StoppedEntry,
} from './journal-entries.js';
import type { StoredRun, RowFigures } from './shared/shared-status.js';
import type { Summary } from '../summary/summary.js';
import { planned } from '../batches/batch-state.js';

/** Entries of a journal other than the run, the states of its batches, and its end. */
export type RunNote = Exclude<
  JournalEntry,
  RunEntry | PlanEntry | BatchEntry | PartEntry | FinishedEntry
>;

/** What a run's batches are driven with: their journal, their claims and their results. */
export interface BatchStore {
  /** The state of the run, as far as this process knows it. */
  readonly state: RunState;

  /** Its folder, by which the run can be found. @default none */
  readonly path?: string;

  /** What other processes do to the run meanwhile. */
  readonly others: OtherProcesses;

  /**
   * Appends a note to the journal. Once it returns, the note survives a power cut.
   *
   * @throws OutputError when a write fails; from then on always
   */
  record(note: RunNote): Promise<void>;

  /**
   * Claims batches that no process has. Only under its claim is anything recorded or sent for a batch.
   *
   * @param wanted by priority
   * @returns the claims that this process gets now: all in a store of one process, at most one in a shared
   * store, and none of a finished or removed run
   * @throws OutputError
   */
  claim(wanted: Iterable<Batch>): Promise<readonly RunClaim[]>;

  /**
   * Reads stored results, as often as called.
   *
   * @param outcomes the table for their outcomes
   * @throws StateError `state_damaged`; ClaimRevokedError once the run is over; OutputError
   */
  readResults(batch: Batch, outcomes: OutcomeTable): Promise<LineResults>;

  /** Whether results are stored. @default whatever counts as exported is */
  hasResults?(batch: Batch): Promise<boolean>;
}

/** How one process of a run learns of the others, and they of it. */
export interface OtherProcesses {
  /** Whether one may work on the run now. */
  readonly mayWork: boolean;

  /** Whether one has finished or abandoned the run. */
  readonly haveEndedRun: boolean;

  /** Whether others' batches may have become free since this process last asked in vain. */
  readonly mayTakeOver: boolean;

  /**
   * Whether the store refuses the launches of a process that has not read the service's list since the store
   * was restored. Not once it was restarted: it may be restored to an earlier moment without knowing it.
   */
  readonly refusesOldLaunches: boolean;

  /**
   * Resolves when, since the last call, other processes have changed the run, or released batches or the last
   * step; `state` includes the changes.
   *
   * @throws the signal's reason
   */
  waitForUpdates(signal: AbortSignal): Promise<void>;

  /** Labels of the batches that any process has changed since the last call. */
  takeUpdates(): ReadonlySet<string>;

  /** @param listener called as soon as `state` has what stops all, whatever else is awaited */
  onStop(listener: () => void): void;

  /**
   * Notifies other processes of what stops all, before it is recorded, which waits for its turn. Never
   * fails.
   */
  announce(stopped: StoppedEntry): void;

  /** Records what is decided for all of them. @throws OutputError */
  record(note: RunNote): Promise<void>;

  /**
   * Reopens a finished run: records the new states of batches in one step, and lets them be claimed again.
   * Does nothing where a batch was recorded since this process last read the run: another process was faster.
   *
   * @throws OutputError
   */
  reopen(batches: readonly BatchProgress[]): Promise<void>;
}

/** No other process can work on the run: its store is locked. */
export const noOthers: OtherProcesses = {
  mayWork: false,
  haveEndedRun: false,
  mayTakeOver: true,
  refusesOldLaunches: false,
  waitForUpdates: async (signal) => orAborted(new Promise(() => {}), signal),
  takeUpdates: () => new Set(),
  onStop: () => undefined,
  announce: () => undefined,
  record: async () => undefined,
  reopen: async () => undefined,
};

/**
 * The journal and results from which another process can resume a run. A state directory is a store held by
 * one process at a time; a shared store serves many processes at once. Every store passes the same tests.
 */
export interface RunStore extends BatchStore {
  /**
   * Claims the output and the end of the run. Possible at any time; one process has it at a
   * time.
   *
   * @returns `undefined` while another process has it, and once the run has finished or is removed
   * @throws OutputError
   */
  claimOutput(): Promise<OutputClaim | undefined>;

  /** Releases the store and every claim for the next process; may be called again. */
  close(): Promise<void>;

  /**
   * Removes all but the proof that the run is over: its identity and its end, which goes last.
   *
   * @throws OutputError
   */
  clear(): Promise<void>;

  /** Removes the store, once it is cleared. @throws OutputError */
  remove(): Promise<void>;
}

/** The right to drive a batch of a run, with the record of the process that had it before. */
export interface RunClaim extends BatchClaim {
  readonly batch: Batch;
  readonly entry: BatchEntry | PartEntry | undefined;
  /** Times of its stages. */
  readonly times: BatchTimes;

  /**
   * Stores the results of a complete export. They count once the batch is recorded as exported, and survive a
   * power cut once this returns.
   *
   * @throws ClaimRevokedError, OutputError
   */
  keepResults(results: LineResults, outcomes: OutcomeTable): Promise<void>;
}

/** The right to write the output of a run and to end it. */
export interface OutputClaim {
  /** Aborted with a ClaimRevokedError when another process may have it; absent where none can. */
  readonly revoked?: AbortSignal;

  /**
   * Confirms the claim before an output is put in place or anything is deleted.
   *
   * @throws ClaimRevokedError
   */
  confirm(): Promise<void>;

  finish(summary: Summary): Promise<void>;
}

/** The right to copy a source into a store. */
export interface CopyClaim {
  /** Aborted with a ClaimRevokedError when another process may have it. */
  readonly revoked: AbortSignal;

  /**
   * Writes all bytes; once it returns, the copy is complete.
   *
   * @param of identifies the original
   * @throws ClaimRevokedError: another process begins again; the error of the bytes
   */
  write(bytes: AsyncIterable<Uint8Array>, of: string): Promise<void>;
}

/** A copy of a source that only one process can read, or that would give each process other rows. */
export interface SourceCopy {
  /** Its largest size in bytes. */
  readonly limitBytes: number;

  /** @returns `undefined` while another process has it, once it is complete, and once the run has begun */
  claim(): Promise<CopyClaim | undefined>;

  /**
   * @returns its original and its bytes; `undefined` until it is complete, and once it is dropped at the end
   * of the run. Reading them throws StateError `state_damaged`
   */
  read(): Promise<{ readonly of: string; readonly bytes: AsyncIterable<Uint8Array> } | undefined>;
}

/** A shared run's store, as one process has it open. */
export interface SharedRunStore extends RunStore {
  /** Which run it is, whatever the store has lost of it: its name, and how many of that name were dropped before. */
  readonly identity: string;
  readonly copy: SourceCopy;
  /**
   * How long the batches that the latest claim asked for, and did not get, are others' from then on, unless those give
   * another sign of life.
   */
  readonly heldForMs: number;
  /** Takes up what other processes have recorded. */
  refresh(): Promise<void>;
  /**
   * Begins the run, unless one of its name exists. Of concurrent calls one counts.
   *
   * @returns the run and its plan, whichever process began it
   * @throws OutputError
   */
  begin(run: RunEntry, plan: PlanEntry): Promise<BegunRun>;
  /**
   * Puts another run in its place, unless another process has a batch of it, or has recorded one that this process
   * does not know of. From then on every process that has it open gets a RunReplacedError, this one too.
   *
   * @returns whether it was replaced
   * @throws RunReplacedError where another process was faster; OutputError
   */
  replace(replacement: Replacement): Promise<boolean>;
  /**
   * Stores the used results of a history for the plan that this process is about to begin with.
   *
   * @throws OutputError
   */
  keepRecalled(bytes: Uint8Array): Promise<void>;
  /** Reads them for the plan that counts. @throws ClaimRevokedError once the run is over; OutputError */
  readRecalled(): Promise<Uint8Array>;
  /** Joins the request rate that all processes of an account share, in any run. */
  joinPace(member: RateMember): Promise<SharedRate>;
}

export interface BegunRun {
  readonly run: RunEntry;
  readonly plan: PlanEntry;
}

/** The beginning of a run in place of others of its name. */
export interface Replacement extends BegunRun {
  /** The others' entries, the first of them first. */
  readonly earlier: readonly JournalEntry[];
  readonly budget: BudgetEntry | undefined;
}

/** A store in which processes on any machines find a run by its name. */
export interface SharedStore {
  /** The run and its store for messages: without a password. */
  readonly name: string;
  /**
   * Opens it as another process, with heartbeats until it is closed.
   *
   * @throws ConfigurationError when it cannot be used; DeadlineError when it is unreachable for too long
   */
  open(options: OpenStoreOptions): Promise<SharedRunStore>;
  /**
   * Reads the run without joining it.
   *
   * @returns `undefined` without a run of this name
   * @throws ConfigurationError, DeadlineError; the signal's reason
   */
  look(options?: { readonly signal?: AbortSignal }): Promise<StoredRun | undefined>;
}

interface OpenStoreOptions {
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Rows that this process and the others have read and written. */
  readonly rows?: RowFigures;
}

interface LocalClaimPorts {
  /** Credits that count for its budget already. @default none */
  readonly spent?: Readonly<Record<VerificationType, number>>;
  record(progress: BatchProgress, at?: string): Promise<void>;
  keepResults(batch: Batch, results: LineResults, outcomes: OutcomeTable): Promise<void>;
}

/** Claims of a run's only process, which gets every batch at once. */
export class LocalRunClaims {
  readonly #state: RunState;
  readonly #ports: LocalClaimPorts;
  readonly #claims: LocalClaims;
  readonly #claimed = new Set<string>();

  constructor(state: RunState, ports: LocalClaimPorts) {
    this.#state = state;
    this.#ports = ports;
    this.#claims = new LocalClaims(ports.spent);
  }

  claim(wanted: Iterable<Batch>): readonly RunClaim[] {
    return [...wanted]
      .filter((batch) => !this.#claimed.has(batchLabel(batch)))
      .map((batch) => this.#claim(batch));
  }

  #claim(batch: Batch): RunClaim {
    const label = batchLabel(batch);
    this.#claimed.add(label);
    const entry = entryOf(this.#state, batch);
    return {
      ...this.#claims.claim(
        batch,
        entry?.state ?? planned,
        async (progress, at) => this.#ports.record(progress, at),
        entry,
      ),
      batch,
      entry,
      times: this.#state.times.get(label) ?? noTimes,
      keepResults: async (results, outcomes) => this.#ports.keepResults(batch, results, outcomes),
    };
  }
}
