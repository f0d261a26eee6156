import type { Client } from '../../../client/client.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { AddressTable, type HashWords } from '../../../platform/hashing/address-table.js';
import { KeyHash } from '../../../platform/hashing/key-hash.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { type BatchState, mayHaveLaunched } from '../../batches/batch-state.js';
import type { Batch } from '../../batches/batch.js';
import { collectLaunched } from '../../driver/collect-launched.js';
import { HistoryEntries } from '../../history/history-entries.js';
import type { History } from '../../history/history.js';
import { NumberList } from '../../plan/address-book.js';
import type { LaunchedBatch, ReportedResults } from '../../plan/result-cache.js';
import { resultsOf } from '../../plan/result-join.js';
import type { LineResults } from '../../results/match-export.js';
import { OutcomeTable } from '../../results/outcome-table.js';
import type { DirectoryState } from '../../stores/directory/state-directory.js';
import { type EarlierRun, hasPaid } from '../../stores/run-state.js';
import type { RunStore } from '../../stores/run-store.js';
import type { ResolvedRun } from '../options/run-options.js';
import type { PlannedInput } from '../planning/plan-input.js';
import { earlierBatches } from '../planning/batch-files.js';
import { notice } from '../../../platform/text/notices.js';
import { noticed } from '../reporting/run-progress.js';

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
  for await (const earlier of resultsBefore(options)) {
    if (!earlier.isKept && options.retries(earlier.state)) continue;
    const origin = { batchUuid: earlier.batchUuid, atMs: earlier.atMs };
    for await (const { group, key, outcome } of earlier.results) {
      hash.hash(group, key);
      entries.set(hash, earlier.outcomes.keyOf(outcome), origin);
    }
  }
  return entries;
}

/** Gives a history the paid results of earlier runs, whether tonight's list needs them or not. */
export async function keepCarried(options: CarriedOptions, history: History): Promise<void> {
  for await (const earlier of resultsBefore(options))
    if (earlier.isKept) await history.keep(earlier);
}

export function carriedUuids(earlier: readonly EarlierRun[]): ReadonlySet<string> {
  const state = earlier.flatMap(({ batches }) => [...batches.values()].map((entry) => entry.state));
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
async function* resultsBefore({
  stored,
  files,
  earlier = stored.state.earlier,
}: CarriedOptions): AsyncGenerator<EarlierResults> {
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
        addresses: batch.addresses,
        outcomes,
        results: resultsOf(batch, (place) => byLine?.[place] ?? failed),
      };
    }
  }
}

/** Gives a history the stored results of a run's batches. */
export async function keepBatches(
  store: RunStore,
  batches: readonly DrivenBatch[],
  history: History,
): Promise<void> {
  for (const { batch, state, times } of batches) {
    if (state.stage !== 'exported') continue;
    const outcomes = new OutcomeTable();
    const byLine = outcomesByLine(batch, await store.readResults(batch, outcomes), outcomes);
    await history.keep({
      batchUuid: state.uuid,
      atMs: Date.parse(times.exported_at ?? ''),
      addresses: batch.addresses,
      outcomes,
      results: resultsOf(batch, (place) => byLine[place] ?? 0),
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

/** Collects what a stream with this history has launched and left, before the list is looked up. */
export async function collectLeft(
  history: History,
  service: Client,
  { onProgress, ...settings }: ResolvedRun,
): Promise<void> {
  const owner = {};
  for (const each of history.notices()) onProgress?.(noticed(each));
  try {
    await collectLaunched(owner, {
      ...settings,
      history,
      service,
      isWanted: ({ run }) => run === undefined,
      onFound: (batches) => onProgress?.(noticed(notice('launched_left', { batches }))),
      onLeftBehind: (names) => onProgress?.({ stage: 'left_behind', names }),
    });
  } finally {
    history.release(owner);
  }
}

interface BesideOthers {
  readonly run: ResolvedRun;
  readonly client: Client;
  readonly history: History | undefined;
  /** batch_uuids of the run itself, from before its list changed. */
  readonly own: ReadonlySet<string>;
}

export interface ListReading {
  readonly onMissing?: ((hash: HashWords) => void) | undefined;
  readonly isAgain?: boolean;
}

/**
 * Plans a new run. Where a run that stopped or was left has launched some of its addresses, they are paid for:
 * their results are waited for, and the list is planned again with them.
 */
export async function planBesideOthers(
  { run, client, history, own }: BesideOthers,
  read: (given: ListReading) => Promise<PlannedInput>,
): Promise<PlannedInput> {
  if (!history) return read({});
  const owner = {};
  const launched = history.takeLaunched(
    owner,
    (batch) => batch.run !== undefined && !own.has(batch.batchUuid),
  );
  history.release(owner);
  if (launched.length === 0) return read({});
  const table = new AddressTable({ seed: history.seed });
  const batches = new NumberList();
  for (const [number, batch] of launched.entries()) {
    for (const hash of batch.hashes()) {
      if (table.addHashed(hash) === batches.length) batches.push(number);
    }
  }
  const found = new Map<LaunchedBatch | undefined, number>();
  const planned = await read({
    onMissing(hash) {
      const place = table.findHashed(hash);
      if (place === -1) return;
      const batch = launched[batches.at(place)];
      found.set(batch, (found.get(batch) ?? 0) + 1);
    },
  });
  if (found.size === 0) return planned;
  const runs = [...new Set([...found.keys()].map((batch) => batch?.run ?? ''))];
  const addresses = [...found.values()].reduce((sum, count) => sum + count, 0);
  const { onProgress, ...settings } = run;
  onProgress?.(noticed(notice('launched_elsewhere', { runs, addresses })));
  try {
    await collectLaunched(owner, {
      ...settings,
      history,
      service: client,
      isWanted: (batch) => [...found.keys()].some((each) => each?.batchUuid === batch.batchUuid),
      onLate: () => onProgress?.(noticed(notice('launched_elsewhere_late', { runs, addresses }))),
    });
  } finally {
    history.release(owner);
  }
  return read({ isAgain: true });
}
