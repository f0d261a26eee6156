import type { Batch } from '../batches/batch.js';
import type { ExportOpener } from '../batches/result-join.js';
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

  /** Appends what is known of a batch. @throws OutputError */
  recordBatch(driven: DrivenBatch): Promise<void>;

  /**
   * Keeps an export while it is fetched and read; it counts once it was read to its end.
   *
   * @param read reads the whole export; it may open it again
   * @throws what `fetch` and `read` throw; OutputError when it could not be made safe
   */
  keepExport<Read>(
    batch: Batch,
    fetch: ExportOpener,
    read: (open: ExportOpener) => Promise<Read>,
  ): Promise<Read>;

  /** Opens an export that was kept, as often as asked. */
  openExport(batch: Batch): ExportOpener;

  /** Drops the run that is known; the store stays held. @throws OutputError */
  startOver(): Promise<void>;

  /** Lets go of the store as it is, for the next process. */
  close(): Promise<void>;

  /** Removes all but the journal, which tells until its removal that the run is over. @throws OutputError */
  clear(): Promise<void>;

  /** Removes the store, once it is cleared. @throws OutputError */
  remove(): Promise<void>;
}
