import type { VerificationType } from '../../contract/enums.js';
import type { HashWords } from '../../platform/hashing/address-table.js';
import type { Recall } from '../plan/result-cache.js';
import { type OutcomeTable, type Verdict, verdictOf } from '../results/outcome-table.js';
import type { HistoryEntries } from './history-entries.js';
import { isFresh, type KnownAge } from './history-options.js';
import type { LaunchedCost } from './launched-batches.js';

export function createKeyLookup(outcomes: OutcomeTable): (outcome: number) => string | undefined {
  const keys = new Map<number, string | undefined>();
  return (outcome) => {
    if (!keys.has(outcome)) {
      const isKept = outcomes.get(outcome).verification !== 'failed';
      keys.set(outcome, isKept ? outcomes.keyOf(outcome) : undefined);
    }
    return keys.get(outcome);
  };
}

export class HistoryRecall implements Recall {
  readonly #entries: HistoryEntries;
  readonly #outcomes: OutcomeTable;
  readonly #withOrigin: boolean;
  readonly #launchedByRun: ReadonlySet<string> | undefined;
  readonly #age: KnownAge | undefined;
  /** By outcome and origin of the history: the plan's id, or -1 where it is too old. */
  readonly #ids = new Map<number, number>();
  #latest = -1;

  /**
   * @param options.age the oldest accepted results. @default any
   * @param options.launchedByRun batch_uuids of the run itself, from before its list changed. @default none
   *
   * @internal
   */
  constructor(
    entries: HistoryEntries,
    outcomes: OutcomeTable,
    options: {
      readonly withOrigin: boolean;
      readonly age?: KnownAge | undefined;
      readonly launchedByRun?: ReadonlySet<string>;
    },
  ) {
    this.#entries = entries;
    this.#outcomes = outcomes;
    this.#withOrigin = options.withOrigin;
    this.#age = options.age;
    this.#launchedByRun = options.launchedByRun;
  }

  outcomeOf(hash: HashWords): number {
    const place = this.#entries.find(hash);
    if (place === -1) return -1;
    const outcome = this.#entries.outcomeAt(place);
    const origin = this.#entries.originAt(place);
    const pair = outcome * 0x1_0000_0000 + origin;
    let id = this.#ids.get(pair);
    if (id === undefined) {
      id = this.#idOf(outcome, origin);
      this.#ids.set(pair, id);
    }
    this.#latest = place;
    return id;
  }

  latest(): { readonly outcomeKey: string; readonly origin: { batchUuid: string; atMs: number } } {
    const entries = this.#entries;
    return {
      outcomeKey: entries.outcomeKey(entries.outcomeAt(this.#latest)),
      origin: entries.origin(entries.originAt(this.#latest)),
    };
  }

  #idOf(number: number, originNumber: number): number {
    const outcome = this.#entries.outcome(number);
    const { batchUuid, atMs } = this.#entries.origin(originNumber);
    if (this.#age && !isFresh(outcome, atMs, this.#age)) return -1;
    const id = this.#outcomes.idOfKey(this.#entries.outcomeKey(number));
    if (!this.#withOrigin) return id;
    const verifiedAt = new Date(atMs).toISOString();
    const source = this.#launchedByRun?.has(batchUuid) === true ? 'service' : 'history';
    return this.#outcomes.withOrigin(id, { verifiedAt, source, batchUuid });
  }
}

/** A result in a history, without the address. */
export interface HistoryResult {
  /** 103 bits of the address's keyed hash, in hex. */
  readonly hash: string;
  readonly verification: string;
  readonly type: 'email' | 'phone' | null;
  /** The record's fields in the order of the added columns; `null` without a record. */
  readonly values: readonly (string | boolean | null)[] | null;
  readonly verifiedAt: string;
  readonly batchUuid: string;
}

export function* resultsOf(entries: HistoryEntries): Generator<HistoryResult> {
  const found: { readonly hash: string; readonly place: number }[] = [];
  entries.forEach(({ word0, word1, word2, word3 }, place) => {
    const words = [word0, word1, word2].map((word) => hex(word >>> 0, 8));
    found.push({ hash: words.join('') + hex(word3 & 127, 2), place });
  });
  for (const { hash, place } of found) {
    const { verification, type, values } = entries.outcome(entries.outcomeAt(place));
    const { batchUuid, atMs } = entries.origin(entries.originAt(place));
    yield {
      hash,
      verification,
      type: type ?? null,
      values: values ?? null,
      verifiedAt: new Date(atMs).toISOString(),
      batchUuid,
    };
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

interface HistoryCounts {
  /** Addresses with a result. */
  readonly addresses: number;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Those whose result is recent enough. */
  readonly usable: number;
  /** Entries replaced by a later result of the same address. */
  readonly superseded: number;
  /** Batches of the results. */
  readonly batches: number;
  /** When the oldest and the latest results were fetched; `null` without results. */
  readonly oldest: string | null;
  readonly latest: string | null;
}

export interface HistoryStats extends HistoryCounts {
  readonly path: string;
  /** The service of the results. */
  readonly service: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Finished runs, and the addresses that they did not pay for again. */
  readonly saved: { readonly runs: number; readonly email: number; readonly phone: number };
  /** Credits of all runs and streams, before refunds, as far as they are known. */
  readonly spent: Readonly<Record<VerificationType, number>>;
  /** Credits of these that the service has refunded. */
  readonly refunded: Readonly<Record<VerificationType, number>>;
  /**
   * Batches that may be launched and whose cost is not known, because they are not finished or the service does not
   * say it; and their credits at most.
   */
  readonly unknownCost: Readonly<Record<VerificationType | 'batches', number>>;
}

export function countCosts(
  costs: readonly LaunchedCost[],
): Pick<HistoryStats, 'spent' | 'refunded' | 'unknownCost'> {
  const spent = { email: 0, phone: 0 };
  const refunded = { email: 0, phone: 0 };
  const unknownCost = { batches: 0, email: 0, phone: 0 };
  for (const { type, addresses, ...cost } of costs) {
    unknownCost.batches += cost.spent === undefined ? 1 : 0;
    unknownCost[type] += cost.spent === undefined ? addresses : 0;
    spent[type] += cost.spent ?? 0;
    refunded[type] += cost.refunded ?? 0;
  }
  return { spent, refunded, unknownCost };
}

export function countResults(entries: HistoryEntries, age: KnownAge): HistoryCounts {
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
