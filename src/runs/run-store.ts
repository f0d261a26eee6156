import type { Batch } from '../batches/batch.js';
import type { BatchResults, LineResults } from '../results/batch-results.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { DrivenBatch } from './drive-log.js';
import type { KnownRun } from './known-run.js';
import type { JournalEntry } from './run-entries.js';

/**
 * What a run keeps so that another process can go on with it: its journal and its results. One process
 * at a time holds it. A state directory is one; what else is to be one has to pass the same suite.
 */
export interface RunStore {
  /** What the journal told when the store was opened, or since it was emptied. */
  readonly known: KnownRun;

  /**
   * Appends to the journal. When it has returned, the entry outlasts a power cut.
   *
   * @throws OutputError when it could not be made safe; from then on always
   */
  record(entry: JournalEntry): Promise<void>;

  /**
   * Appends what is known of a batch.
   *
   * @param at when it became known. @default now
   * @throws OutputError
   */
  recordBatch(driven: Omit<DrivenBatch, 'times'>, at?: string): Promise<void>;

  /** Keeps what a whole export told of a batch. When it has returned, that outlasts a power cut. @throws OutputError */
  keepResults(batch: Batch, results: LineResults, outcomes: OutcomeTable): Promise<void>;

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

  /** Lets go of the store as it is, for the next process. */
  close(): Promise<void>;

  /** Removes all but the journal, which tells until its removal that the run is over. @throws OutputError */
  clear(): Promise<void>;

  /** Removes the store, once it is cleared. @throws OutputError */
  remove(): Promise<void>;
}
