import { verdictOf, type Verdict } from '../results/verdict.js';
import type { HistoryEntries } from './history-entries.js';
import { isFresh, type Oldest } from './max-age.js';

export interface HistoryCounts {
  /** Addresses that it holds a result of. */
  readonly addresses: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Those whose result is not too old to stand for the address. */
  readonly usable: number;
  /** Entries that a later result of their address has taken the place of. */
  readonly superseded: number;
  /** Batches that the results are of. */
  readonly batches: number;
  /** When the oldest and the latest results were fetched; `null` when there are none. */
  readonly oldest: string | null;
  readonly latest: string | null;
}

export interface HistoryStats extends HistoryCounts {
  readonly path: string;
  /** The service that the results are of. */
  readonly service: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Finished runs, and how many addresses they did not pay for again. */
  readonly saved: { readonly runs: number; readonly email: number; readonly phone: number };
}

export function countResults(
  entries: HistoryEntries,
  age: { readonly oldest: Oldest; readonly nowMs: number },
): HistoryCounts {
  const verdicts = { valid: 0, wrong: 0, unknown: 0, none: 0 };
  const batches = new Set<number>();
  let usable = 0;
  let oldestMs = Infinity;
  let latestMs = -Infinity;
  entries.forEach((_, place) => {
    const outcome = entries.outcome(entries.outcomeAt(place));
    const { atMs } = entries.origin(entries.originAt(place));
    verdicts[verdictOf(outcome)] += 1;
    batches.add(entries.originAt(place));
    if (isFresh(outcome, atMs, age)) usable += 1;
    oldestMs = Math.min(oldestMs, atMs);
    latestMs = Math.max(latestMs, atMs);
  });
  const isEmpty = entries.size === 0;
  return {
    addresses: entries.size,
    verdicts,
    usable,
    superseded: entries.superseded,
    batches: batches.size,
    oldest: isEmpty ? null : new Date(oldestMs).toISOString(),
    latest: isEmpty ? null : new Date(latestMs).toISOString(),
  };
}
