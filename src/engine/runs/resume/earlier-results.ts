import type { Client } from '../../../client/client.js';
import type { FileSystem } from '../../../platform/files/file-system.js';
import { AddressTable, type HashWords } from '../../../platform/hashing/address-table.js';
import { KeyHash } from '../../../platform/hashing/key-hash.js';
import type { DrivenBatch } from '../../batches/batch-log.js';
import { type BatchState, isLaunchInDoubt, mayHaveLaunched } from '../../batches/batch-state.js';
import { type Batch, batchLabel, halveBatch } from '../../batches/batch.js';
import { groupNumber } from '../../addresses/address.js';
import { collectLaunched, keysOf } from '../../driver/collect-launched.js';
import { HistoryEntries } from '../../history/history-entries.js';
import type { History } from '../../history/history.js';
import { NumberList } from '../../plan/address-book.js';
import type { LaunchedBatch, ReportedResults } from '../../plan/result-cache.js';
import { resultsOf } from '../../plan/result-join.js';
import type { LineResults } from '../../results/match-export.js';
import { OutcomeTable } from '../../results/outcome-table.js';
import type { DirectoryState } from '../../stores/directory/state-directory.js';
import {
  type EarlierRun,
  hasPaid,
  type JournaledBatches,
  type RunState,
} from '../../stores/run-state.js';
import type { RunStore } from '../../stores/run-store.js';
import type { ResolvedRun } from '../options/run-options.js';
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

/** Addresses that runs which stopped, or were left, have launched: their results are not in the history yet. */
class LaunchedElsewhere {
  readonly #launched: readonly LaunchedBatch[];
  readonly #table: AddressTable;
  /** By the table's numbers. */
  readonly #batches = new NumberList();
  /** Those with addresses of this run, and how many. */
  readonly found = new Map<LaunchedBatch, number>();

  /** @param own batch_uuids of the run itself */
  constructor(history: History, own: ReadonlySet<string>) {
    this.#launched = history.takeLaunched(
      this,
      ({ run, batchUuid }) => run !== undefined && !own.has(batchUuid),
    );
    history.release(this);
    this.#table = new AddressTable({ seed: history.seed });
    for (const [number, batch] of this.#launched.entries()) {
      for (const hash of batch.hashes()) {
        if (this.#table.addHashed(hash) === this.#batches.length) this.#batches.push(number);
      }
    }
  }

  /** @returns whether it has the address */
  note(hash: HashWords): boolean {
    const place = this.#table.findHashed(hash);
    const batch = place === -1 ? undefined : this.#launched[this.#batches.at(place)];
    if (batch) this.found.set(batch, (this.found.get(batch) ?? 0) + 1);
    return batch !== undefined;
  }

  get addresses(): number {
    return [...this.found.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The state directories of their runs. */
  get runs(): readonly string[] {
    return [...new Set([...this.found.keys()].map(({ run }) => run ?? ''))];
  }
}

/**
 * Counts addresses of a run that is resumed which it has not launched, or may not have, and another run with its
 * history has since.
 */
export async function paidSince(
  history: History,
  batches: readonly Batch[],
  { earlier, batches: states }: RunState,
): Promise<number> {
  const own = uuidsOf([...earlier, { batches: states }]);
  const elsewhere = new LaunchedElsewhere(history, own);
  const recall = history.recall(new OutcomeTable(), false);
  const hash = new KeyHash(history.seed);
  let count = 0;
  const look = async (batch: Batch): Promise<void> => {
    const state = states.get(batchLabel(batch))?.state;
    if (state?.stage === 'split') for (const part of await halveBatch(batch)) await look(part);
    else if (!state || !mayHaveLaunched(state) || isLaunchInDoubt(state)) {
      for await (const key of keysOf(batch)) {
        hash.hash(groupNumber(batch.group), key);
        const isKnown = recall.outcomeOf(hash) !== -1;
        // A launch in doubt may have arrived, and another run have collected it.
        const isOwn = isKnown && own.has(recall.latest().origin.batchUuid);
        if (isKnown ? !isOwn : elsewhere.note(hash)) count += 1;
      }
    }
  };
  for (const batch of batches) await look(batch);
  return count;
}

interface BesideOthers {
  readonly run: ResolvedRun;
  readonly client: Client;
  readonly history: History | undefined;
  /** Runs that it replaced. */
  readonly earlier: readonly EarlierRun[];
}

export interface ListReading {
  readonly onMissing?: ((hash: HashWords) => void) | undefined;
  readonly isAgain?: boolean;
}

/**
 * Plans a new run. Where a run that stopped or was left has launched some of its addresses, they are paid for:
 * their results are waited for, and the list is planned again with them.
 */
export async function planBesideOthers<Planned>(
  { run, client, history, earlier }: BesideOthers,
  read: (given: ListReading) => Promise<Planned>,
): Promise<Planned> {
  if (!history) return read({});
  const elsewhere = new LaunchedElsewhere(history, uuidsOf(earlier));
  const planned = await read({ onMissing: (hash) => elsewhere.note(hash) });
  const { found, runs, addresses } = elsewhere;
  if (found.size === 0) return planned;
  const { onProgress, ...settings } = run;
  onProgress?.(noticed(notice('launched_elsewhere', { runs, addresses })));
  const uuids = new Set([...found.keys()].map(({ batchUuid }) => batchUuid));
  let isLost = false;
  try {
    await collectLaunched(elsewhere, {
      ...settings,
      history,
      service: client,
      isWanted: ({ batchUuid }) => uuids.has(batchUuid),
      onLost: () => {
        isLost = true;
      },
    });
    if (isLost) onProgress?.(noticed(notice('launched_elsewhere_late', { runs, addresses })));
  } finally {
    history.release(elsewhere);
  }
  return read({ isAgain: true });
}
