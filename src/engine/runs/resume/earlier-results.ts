import type { FileSystem } from '../../../platform/files/file-system.js';
import { hashWords, KeyHash } from '../../../platform/hashing/key-hash.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { type BatchState, mayHaveLaunched } from '../../batches/batch-state.js';
import type { Batch } from '../../batches/batch.js';
import { HistoryEntries } from '../../history/history-entries.js';
import type { History } from '../../history/history.js';
import type { ReportedResults } from '../../plan/result-cache.js';
import { lineHashes } from '../../plan/line-hashes.js';
import type { LineResults } from '../../results/match-export.js';
import { OutcomeTable } from '../../results/outcome-table.js';
import type { DirectoryState } from '../../stores/directory/state-directory.js';
import { type EarlierRun, hasPaid, type JournaledBatches } from '../../stores/run-state.js';
import type { RunStore } from '../../stores/run-store.js';
import { earlierBatches } from '../planning/batch-files.js';

interface CarriedOptions {
  readonly stored: DirectoryState;
  readonly files: FileSystem;
  /** Its runs. @default those that its run replaced */
  readonly earlier?: readonly EarlierRun[];
}

/**
 * Paid results of the runs that another replaced, by address: their lists had other address numbers.
 *
 * @param options.retries whether addresses of a failed batch count as never sent
 * @throws StateError `state_damaged`; OutputError
 */
export async function carriedEntries(
  options: CarriedOptions & {
    readonly seed: Uint8Array;
    readonly retries: (state: BatchState) => boolean;
  },
): Promise<HistoryEntries> {
  const entries = new HistoryEntries(options.seed);
  const hash = new KeyHash(options.seed);
  for await (const earlier of resultsBefore(options, options.seed)) {
    if (!earlier.isKept && options.retries(earlier.state)) continue;
    const origin = { batchUuid: earlier.batchUuid, atMs: earlier.atMs };
    let first = 0;
    for await (const hashes of earlier.hashes) {
      for (let place = 0; place < hashes.length / hashWords; place += 1) {
        hash.bringBack(hashes, place);
        entries.set(hash, earlier.outcomes.keyOf(earlier.outcomeOf(first + place)), origin);
      }
      first += hashes.length / hashWords;
    }
  }
  return entries;
}

/** Gives a history the paid results of earlier runs, whether tonight's list needs them or not. */
export async function keepCarried(options: CarriedOptions, history: History): Promise<void> {
  for await (const earlier of resultsBefore(options, history.seed))
    if (earlier.isKept) await history.keep(earlier);
}

/** Those that may have been launched. */
export function uuidsOf(runs: readonly JournaledBatches[]): ReadonlySet<string> {
  const state = runs.flatMap(({ batches }) => [...batches.values()].map((entry) => entry.state));
  return new Set(
    state.flatMap((batch) => (mayHaveLaunched(batch) && 'uuid' in batch ? [batch.uuid ?? ''] : [])),
  );
}

interface EarlierResults extends ReportedResults {
  /** Whether its results are stored; else it counts as failed. */
  readonly isKept: boolean;
  readonly state: BatchState;
}

/** An address that may have been paid counts, even without a result: it is not paid again by itself. */
async function* resultsBefore(
  { stored, files, earlier = stored.state.earlier }: CarriedOptions,
  seed: Uint8Array,
): AsyncGenerator<EarlierResults> {
  for (const run of earlier.filter(hasPaid)) {
    const { results } = stored.of(run);
    const outcomes = new OutcomeTable();
    for (const { batch, entry } of await earlierBatches(files, stored, run)) {
      const { state } = entry;
      if (!mayHaveLaunched(state)) continue;
      // A failed one may have been continued since.
      const kept =
        state.stage === 'failed'
          ? await results.find(batch, outcomes)
          : await results.read(batch, outcomes);
      const reason = state.stage === 'failed' ? state.reason : 'batch_missing';
      const byLine = kept && outcomesByLine(batch, kept, outcomes);
      const failed = kept ? 0 : outcomes.idOf('failed', reason);
      yield {
        isKept: kept !== undefined,
        state,
        batchUuid: 'uuid' in state ? (state.uuid ?? '') : '',
        atMs: Date.parse(entry.at),
        type: batch.group.type,
        addresses: batch.addresses,
        charge: entry.charge ?? undefined,
        outcomes,
        hashes: lineHashes(batch, seed),
        outcomeOf: (place) => byLine?.[place] ?? failed,
      };
    }
  }
}

export async function keepBatches(
  store: RunStore,
  batches: readonly Pick<DrivenBatch, 'batch' | 'state' | 'charge' | 'times'>[],
  history: History,
): Promise<void> {
  for (const { batch, state, charge, times } of batches) {
    const cost = { type: batch.group.type, addresses: batch.addresses, charge };
    if (state.stage === 'failed' && state.launched && state.uuid !== undefined) {
      await history.dropLaunch(state.uuid, cost);
    }
    if (state.stage !== 'exported') continue;
    const outcomes = new OutcomeTable();
    const byLine = outcomesByLine(batch, await store.readResults(batch, outcomes), outcomes);
    await history.keep({
      batchUuid: state.uuid,
      atMs: Date.parse(times.exported_at ?? ''),
      ...cost,
      outcomes,
      hashes: lineHashes(batch, history.seed),
      outcomeOf: (place) => byLine[place] ?? 0,
    });
  }
}

function outcomesByLine(
  { addresses }: Batch,
  kept: LineResults,
  outcomes: OutcomeTable,
): Uint32Array {
  const byLine = new Uint32Array(addresses).fill(outcomes.idOf('no_result', 'no_record'));
  for (const [at, line] of kept.lines.entries()) byLine[line] = kept.outcomes[at] ?? 0;
  return byLine;
}
