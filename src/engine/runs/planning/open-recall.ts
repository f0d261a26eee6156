import { wantsOrigin, type FieldOptions } from '../../columns/added-fields.js';
import type { Recall } from '../../plan/result-cache.js';
import type { OutcomeTable } from '../../results/outcome-table.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import type { History } from '../../history/history.js';
import { HistoryRecall } from '../../history/history-lookup.js';
import { readRecalled, RecalledWriter, type RecalledEntry } from './recalled-file.js';
import { carriedUuids } from '../resume/carried-results.js';
import type { HistoryEntries } from '../../history/history-entries.js';
import type { KnownRun } from '../../stores/run-state.js';
import type { RunScratch } from '../../stores/scratch.js';

/** What knows results of earlier runs while the source is read. */
export interface OpenRecall {
  recall(outcomes: OutcomeTable): Recall;
  /** Writes down what was used so far. @throws OutputError */
  flush(): Promise<void>;
  /** @returns what the journal is told of it @throws OutputError */
  finish(): Promise<RecalledEntry>;
  close(): Promise<void>;
}

interface RecallOptions {
  readonly known: Pick<KnownRun, 'plan' | 'earlier'>;
  readonly scratch: Pick<RunScratch, 'recalledPath'>;
  readonly files: FileSystem;
  readonly seed: Uint8Array;
  readonly history?: History | undefined;
  readonly columns: FieldOptions;
  /** What the runs before have paid for. @default there are none */
  readonly carried?: () => Promise<HistoryEntries>;
}

/**
 * A run asks the runs before it and a history once, and notes what it was told; once its plan counts, the
 * note alone speaks.
 *
 * @returns `undefined` where it has neither
 * @throws StateError `state_damaged`, OutputError
 */
export async function openRecall(options: RecallOptions): Promise<OpenRecall | undefined> {
  const { known, scratch, files, seed, history } = options;
  const withOrigin = wantsOrigin(options.columns);
  const { plan, earlier } = known;
  const own = carriedUuids(earlier);
  if (plan) {
    const told = plan.recalled;
    if (!told) return undefined;
    const entries = await readRecalled(files, scratch.recalledPath, seed, told);
    return {
      recall: (outcomes) => new HistoryRecall(entries, outcomes, { withOrigin, own }),
      flush: async () => undefined,
      finish: async () => told,
      close: async () => undefined,
    };
  }
  if (!history && earlier.length === 0) return undefined;
  const carried = await options.carried?.();
  const writer = await RecalledWriter.create(files, scratch.recalledPath);
  return {
    recall: (outcomes) =>
      writer.from([
        // What this night has paid for counts, however old the history wants its results.
        ...(carried ? [new HistoryRecall(carried, outcomes, { withOrigin, own })] : []),
        ...(history ? [history.recall(outcomes, withOrigin)] : []),
      ]),
    flush: async () => writer.flush(),
    finish: async () => writer.finish(),
    close: async () => writer.close(),
  };
}
