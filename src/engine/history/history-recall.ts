import type { HashWords } from '../../platform/hashing/address-table.js';
import type { Recall } from '../plan/result-history.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { HistoryEntries } from './history-entries.js';
import { isFresh, type Oldest } from './max-age.js';

/** The lookups of one plan in a history. */
export class HistoryRecall implements Recall {
  readonly #entries: HistoryEntries;
  readonly #outcomes: OutcomeTable;
  readonly #withOrigin: boolean;
  readonly #own: ReadonlySet<string> | undefined;
  readonly #age: { readonly oldest: Oldest; readonly nowMs: number } | undefined;
  /** By outcome and origin of the history: the plan's id, or -1 where it is too old. */
  readonly #ids = new Map<number, number>();
  #latest = -1;

  /**
   * @param options.age how old results may be. @default any age
   * @param options.own batches of the run itself, before its list changed. @default none
   */
  constructor(
    entries: HistoryEntries,
    outcomes: OutcomeTable,
    options: {
      readonly withOrigin: boolean;
      readonly age?: { readonly oldest: Oldest; readonly nowMs: number } | undefined;
      readonly own?: ReadonlySet<string>;
    },
  ) {
    this.#entries = entries;
    this.#outcomes = outcomes;
    this.#withOrigin = options.withOrigin;
    this.#age = options.age;
    this.#own = options.own;
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

  /** What the lookup that found something last has found: the key of its outcome, and its origin. */
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
    const source = this.#own?.has(batchUuid) === true ? 'service' : 'history';
    return this.#outcomes.withOrigin(id, { verifiedAt, source, batchUuid });
  }
}
