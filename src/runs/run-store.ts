import type { BatchClaim } from '../batches/batch-claim.js';
import type { Batch } from '../batches/batch.js';
import type { BatchResults, LineResults } from '../results/batch-results.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { BatchTimes } from './batch-times.js';
import type { KnownRun } from './known-run.js';
import type { BatchEntry, JournalEntry, PartEntry } from './run-entries.js';

/**
 * What a run keeps so that another process can go on with it: its journal and its results. A state
 * directory is one, held by one process at a time; in one that is shared, many processes work on the run
 * at once. Every store passes the same suite.
 */
export interface RunStore {
  /** What the run has come to, as far as this process has heard. */
  readonly known: KnownRun;

  /**
   * Appends to the journal what is no batch's. When it has returned, the entry outlasts a power cut.
   *
   * @throws OutputError when it could not be made safe; from then on always
   */
  record(entry: Exclude<JournalEntry, BatchEntry | PartEntry>): Promise<void>;

  /**
   * Claims batches that no process has. Nothing is written about a batch, and nothing sent for it, but
   * under its claim.
   *
   * @param wanted in the order in which they are to be had
   * @returns as many as this process may have now: all in a store that it holds alone, one or none in
   *   one that it shares
   * @throws OutputError
   */
  claim(wanted: readonly Batch[]): Promise<readonly RunClaim[]>;

  /**
   * Resolves when other processes have brought the run further, or let go of batches, since it was last
   * asked: at once where that is so already. `known` has it then. Absent where there are no others.
   *
   * @throws the signal's reason
   */
  news?(signal: AbortSignal): Promise<void>;

  /**
   * Reads results that were kept, as often as asked.
   *
   * @param outcomes the table that their outcomes get ids in
   * @returns by the numbers of addresses where an earlier version kept them
   * @throws StateError `state_damaged`; OutputError
   */
  readResults(batch: Batch, outcomes: OutcomeTable): Promise<LineResults | BatchResults>;

  /** Drops the run that is known; the store stays held. @throws OutputError */
  startOver(): Promise<void>;

  /** Lets go of the store and of every claim, for the next process. */
  close(): Promise<void>;

  /** Removes all but the journal, which tells until its removal that the run is over. @throws OutputError */
  clear(): Promise<void>;

  /** Removes the store, once it is cleared. @throws OutputError */
  remove(): Promise<void>;
}

/** The right to drive a batch of a run, with what whoever had it before has written down. */
export interface RunClaim extends BatchClaim {
  readonly batch: Batch;
  readonly entry: BatchEntry | PartEntry | undefined;
  /** When it got where it is. */
  readonly times: BatchTimes;

  /**
   * Keeps what a whole export told of the batch. It counts once the batch is recorded as exported. When
   * it has returned, it outlasts a power cut.
   *
   * @throws ClaimLostError, OutputError
   */
  keepResults(results: LineResults, outcomes: OutcomeTable): Promise<void>;
}
