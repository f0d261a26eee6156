import { batchLabel } from '../../batches/batch-label.js';
import type { BatchProgress } from '../../batches/batch-progress.js';
import { isAtEnd, isPrepared, mayHaveLaunched } from '../../batches/batch-state.js';
import { batchEntryOf } from '../run-entries.js';
import type { BatchRecord, ReopenedBatch } from './store-protocol.js';

/** What is written down of a batch in a store that processes share, and what follows for the store. */
export function recordOf(progress: BatchProgress, at: string, call: number): BatchRecord {
  const { known } = progress;
  return {
    entry: batchEntryOf(progress, at),
    call,
    hasEnded: isAtEnd(known) || known.stage === 'split',
    mayBePaid: mayHaveLaunched(known),
    isProven: isPrepared(known) || (known.stage === 'parsing' && known.prepared),
  };
}

/** The same of one that is open again. */
export function reopenedRecordOf(progress: BatchProgress, at: string): ReopenedBatch {
  return {
    label: batchLabel(progress.batch),
    entry: batchEntryOf(progress, at),
    mayBePaid: mayHaveLaunched(progress.known),
  };
}
