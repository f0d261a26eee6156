import { laneNumber } from '../addresses/lane.js';
import type { Batch } from '../batches/batch.js';
import { mayHaveLaunched } from '../batches/known-batch.js';
import { readLines } from '../batches/read-lines.js';
import { addressOf } from '../batches/result-join.js';
import type { AddressResult, ToldResults } from '../batches/result-history.js';
import { StateError } from '../errors/family.js';
import { KeyHash } from '../hashing/key-hash.js';
import { OutcomeTable } from '../results/outcome-table.js';
import type { FileSystem } from '../system/file-system.js';
import { HistoryEntries } from './history/history-entries.js';
import type { History } from './history/history.js';
import type { EarlierRun } from './known-run.js';
import { earlierBatches, type EarlierBatch } from './planned-batches.js';
import type { StateDirectory } from './state-directory.js';

/** Whose state it is, and who reads it. */
export interface CarriedOptions {
  readonly state: StateDirectory;
  readonly files: FileSystem;
}

/**
 * What the runs have paid for in whose place another began, by the address itself: their lists, and so the
 * numbers of their addresses, were others.
 *
 * @param options.retries whether addresses that failed count as never sent
 * @throws StateError `state_damaged`; OutputError
 */
export async function carriedEntries(
  options: CarriedOptions & { readonly seed: Uint8Array; readonly retries: boolean },
): Promise<HistoryEntries> {
  const entries = new HistoryEntries(options.seed);
  const hash = new KeyHash(options.seed);
  for await (const told of toldBefore(options, (batch) => counts(batch, options.retries))) {
    const origin = { batchUuid: told.batchUuid, atMs: told.atMs };
    for await (const { lane, key, outcome } of told.results) {
      hash.hash(lane, key);
      entries.set(hash, told.outcomes.keyOf(outcome), origin);
    }
  }
  return entries;
}

/** Gives a history what the runs before have paid for, whatever tonight's list needs of it. @throws OutputError */
export async function keepCarried(options: CarriedOptions, history: History): Promise<void> {
  const isTold = ({ entry }: EarlierBatch): boolean => entry.known.stage === 'exported';
  for await (const told of toldBefore(options, isTold)) await history.keep(told);
}

/** Uuids of what the runs before have launched. */
export function carriedUuids(earlier: readonly EarlierRun[]): ReadonlySet<string> {
  const known = earlier.flatMap(({ batches }) => [...batches.values()]);
  return new Set(known.flatMap((entry) => ('uuid' in entry.known ? [entry.known.uuid ?? ''] : [])));
}

/** Whether a batch failed that a person may send again: one whose export is in doubt is paid for. */
export function isRetried({ known }: EarlierBatch['entry']): boolean {
  const isInDoubt = (reason: string): boolean => /^export_(?:incomplete|foreign)$/.test(reason);
  return known.stage === 'failed' && !isInDoubt(known.reason);
}

/** What may have been paid for counts, also without a result: it is never paid for again by itself. */
function counts({ entry }: EarlierBatch, retries: boolean): boolean {
  return mayHaveLaunched(entry.known) && !(retries && isRetried(entry));
}

async function* toldBefore(
  { state, files }: CarriedOptions,
  isWanted: (batch: EarlierBatch) => boolean,
): AsyncGenerator<ToldResults> {
  for (const run of state.known.earlier) {
    const { results: store } = state.of(run);
    const outcomes = new OutcomeTable();
    for (const found of (await earlierBatches(files, state, run)).filter(isWanted)) {
      const { batch, entry } = found;
      const { known } = entry;
      const byLine = new Uint32Array(batch.addresses);
      if (known.stage === 'failed') {
        byLine.fill(outcomes.idOf('failed', known.reason));
      } else {
        byLine.fill(outcomes.idOf('no_result', 'no_record'));
        const kept = await store.read(batch, outcomes);
        if (!('lines' in kept)) throw ofAnotherVersion();
        for (const [at, line] of kept.lines.entries()) byLine[line] = kept.outcomes[at] ?? 0;
      }
      yield {
        batchUuid: 'uuid' in known ? (known.uuid ?? '') : '',
        atMs: Date.parse(entry.at),
        addresses: batch.addresses,
        outcomes,
        results: resultsOf(batch, byLine),
      };
    }
  }
}

async function* resultsOf(batch: Batch, outcomes: Uint32Array): AsyncGenerator<AddressResult> {
  const lane = laneNumber(batch.lane);
  let place = 0;
  for await (const line of readLines(batch)) {
    const address = addressOf(batch, line);
    if ('key' in address) yield { lane, key: address.key, outcome: outcomes[place] ?? 0 };
    place += 1;
  }
}

function ofAnotherVersion(): StateError {
  return new StateError(
    'results of an earlier version of Sluice are in the state directory: put the old list back to go on, or start over with --fresh, which pays again',
    { code: 'state_damaged' },
  );
}
