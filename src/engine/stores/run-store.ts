import type { BatchClaim, BatchProgress } from '../batches/claim.js';
import type { Batch } from '../batches/batch.js';
import type { RateMember, SharedRate } from '../../client/rate/shared-rate.js';
import type { LineResults } from '../results/match-export.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { Clock } from '../../platform/waiting/clock.js';
import type { BatchTimes } from '../batches/batch-log.js';
import type { RunState } from './run-state.js';
import type {
  BatchEntry,
  FinishedEntry,
  JournalEntry,
  PartEntry,
  PlanEntry,
  RunEntry,
  StoppedEntry,
} from './journal-entries.js';
import type { StoredRun, RowFigures } from './shared/shared-status.js';
import type { Summary } from '../summary/summary.js';

/** Entries of a journal other than the run itself, the states of its batches, and its end. */
export type RunNote = Exclude<
  JournalEntry,
  RunEntry | PlanEntry | BatchEntry | PartEntry | FinishedEntry
>;

/**
 * What a run keeps so that another process can go on with it: its journal and its results. A state
 * directory is one, held by one process at a time; in one that is shared, many processes work on the run
 * at once. Every store passes the same suite.
 */
export interface RunStore {
  /** The state of the run, as far as this process knows. */
  readonly state: RunState;

  /** Whether other processes may work on the run at the same time. */
  readonly isShared: boolean;

  /**
   * Appends a note to the journal. When it has returned, the note outlasts a power cut.
   *
   * @throws OutputError when it could not be made safe; from then on always
   */
  record(note: RunNote): Promise<void>;

  /**
   * Claims batches that no process has. Nothing is written about a batch, and nothing sent for it, but
   * under its claim.
   *
   * @param wanted in the order in which they are to be had
   * @returns as many as this process may have now: all in a store that it holds alone, one or none in
   *   one that it shares, and none of a run that has finished or is removed
   * @throws OutputError
   */
  claim(wanted: Iterable<Batch>): Promise<readonly RunClaim[]>;

  /**
   * Claims the last step of the run: its output, and its end. It may be claimed at any time; one at a time
   * has it.
   *
   * @returns `undefined` while another process has it, and once the run has finished or is removed
   * @throws OutputError
   */
  join(): Promise<JoinClaim | undefined>;

  /**
   * Resolves when other processes have brought the run further, or have let go of batches or of its last
   * step, since it was last asked: at once where that is so already. `known` has it then. Absent where
   * there are no others.
   *
   * @throws the signal's reason
   */
  waitForUpdates?(signal: AbortSignal): Promise<void>;

  /**
   * Whether the store was started again since this process opened it: it may have been set back to an
   * earlier moment. Absent where there are no others.
   */
  readonly isRestarted?: boolean;

  /**
   * Labels of the batches that any process has recorded changes of since the last call.
   * Absent where there are no others.
   */
  takeUpdates?(): ReadonlySet<string>;

  /**
   * Reads results that were kept, as often as asked.
   *
   * @param outcomes the table that their outcomes get ids in
   * @returns by the numbers of addresses where an earlier version kept them
   * @throws StateError `state_damaged`; ClaimRevokedError where the run is over meanwhile; OutputError
   */
  readResults(batch: Batch, outcomes: OutcomeTable): Promise<LineResults>;

  /** Drops the run that is known; the store stays held. @throws OutputError */
  startOver(): Promise<void>;

  /** Lets go of the store and of every claim, for the next process; once more does nothing. */
  close(): Promise<void>;

  /**
   * Removes all but the proof that the run is over: which run it was, and its end. That goes last.
   *
   * @throws OutputError
   */
  clear(): Promise<void>;

  /** Removes the store, once it is cleared. @throws OutputError */
  remove(): Promise<void>;
}

/** The right to drive a batch of a run, with what the process that had it before has written down. */
export interface RunClaim extends BatchClaim {
  readonly batch: Batch;
  readonly entry: BatchEntry | PartEntry | undefined;
  /** When it got where it is. */
  readonly times: BatchTimes;

  /**
   * Keeps the results of a whole export of the batch. It counts once the batch is recorded as exported. When
   * it has returned, it outlasts a power cut.
   *
   * @throws ClaimRevokedError, OutputError
   */
  keepResults(results: LineResults, outcomes: OutcomeTable): Promise<void>;
}

/** The right to write the output of a run and to end it. */
export interface JoinClaim {
  /** Aborted with a ClaimRevokedError when another process may have it; absent where none can. */
  readonly revoked?: AbortSignal;

  /**
   * Makes sure that the claim still holds, before an output is put into its place or anything is deleted.
   *
   * @throws ClaimRevokedError
   */
  confirm(): Promise<void>;

  /**
   * Writes down that the output is in its place: the run has finished.
   *
   * @throws ClaimRevokedError with nothing written; OutputError
   */
  finish(summary: Summary): Promise<void>;
}

/** The right to copy a source into a store. */
export interface CopyClaim {
  /** Aborted with a ClaimRevokedError when another process may have it. */
  readonly revoked: AbortSignal;

  /**
   * Writes all of it; when it has returned, the copy is whole.
   *
   * @param of what it is a copy of
   * @throws ClaimRevokedError: another process begins again; what the bytes fail with
   */
  write(bytes: AsyncIterable<Uint8Array>, of: string): Promise<void>;
}

/** Of a source that one process alone can read, or that would give each process other rows. */
export interface SourceCopy {
  /** Most bytes that it may have. */
  readonly limitBytes: number;

  /** @returns `undefined` while another process has it, once it is whole, and once the run is begun */
  claim(): Promise<CopyClaim | undefined>;

  /**
   * @returns what it is a copy of, and its bytes; `undefined` while it is not whole, and once it is dropped
   *   with the end of the run. Reading them throws StateError `state_damaged`
   */
  read(): Promise<{ readonly of: string; readonly bytes: AsyncIterable<Uint8Array> } | undefined>;
}

/** A run in a store that many processes share, as one of them has it open. */
export interface SharedRunStore extends RunStore {
  readonly copy: SourceCopy;
  /**
   * Begins the run, where none is begun under its name. Of all processes that do so one counts.
   *
   * @returns what the run is and what its plan is, by whichever process
   * @throws OutputError
   */
  begin(run: RunEntry, plan: PlanEntry): Promise<BegunRun>;
  /**
   * Keeps what of a history the plan uses that this process is about to begin with.
   *
   * @throws OutputError
   */
  keepRecalled(bytes: Uint8Array): Promise<void>;
  /** The same of the plan that counts. @throws OutputError */
  readRecalled(): Promise<Uint8Array>;
  /** Keeps the pace of an account's requests with all of its processes, in whichever run. */
  joinPace(member: RateMember): Promise<SharedRate>;
  waitForUpdates(signal: AbortSignal): Promise<void>;
  /** @param listener called as soon as `state` has what stops all, whatever else is waited for */
  hearStops(listener: () => void): void;
  /**
   * Notifies other processes of what stops all, before it is recorded, which waits for its turn. Never
   * fails.
   */
  announce(stopped: StoppedEntry): void;
  /**
   * Makes a finished run unfinished: writes down what is known of batches from now on, all at once, and
   * lets them be claimed again. Where anything was recorded of a batch since this process last read of
   * the run nothing is: another process has been faster.
   *
   * @throws OutputError
   */
  reopen(batches: readonly BatchProgress[]): Promise<void>;
}

/** What a run is, and what its list was. */
export interface BegunRun {
  readonly run: RunEntry;
  readonly plan: PlanEntry;
}

/** Where processes, on whichever machines, find one run by its name. */
export interface SharedStore {
  /** The run and where it is, for messages: without a password. */
  readonly name: string;
  /**
   * Opens it as one more process. From then on it gives signs of life, until it is closed.
   *
   * @throws ConfigurationError when it cannot be used; DeadlineError when it is out of reach for too long
   */
  open(options: OpenStoreOptions): Promise<SharedRunStore>;
  /**
   * What it has of the run, for a process that only looks.
   *
   * @returns `undefined` where there is no run of this name
   * @throws ConfigurationError, DeadlineError; the signal's reason
   */
  look(options?: { readonly signal?: AbortSignal }): Promise<StoredRun | undefined>;
}

export interface OpenStoreOptions {
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** How far this process is with its rows, and the others. */
  readonly rows?: RowFigures;
}
