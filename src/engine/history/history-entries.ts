import * as z from 'zod';
import { AddressTable, type HashWords } from '../../platform/hashing/address-table.js';
import { NumberList } from '../plan/address-book.js';
import { type Outcome, readOutcomeKey } from '../results/outcome-table.js';
import { entryWords, type Frame, maxFrameEntries } from './history-file.js';

export class FrameBuilder {
  #words = new Uint32Array(1024 * entryWords);
  #length = 0;
  readonly #outcomes = new Map<string, number>();
  readonly #origins = new Map<string, number>();
  readonly #times: number[] = [];
  /** Entries of one batch come in a row. */
  #latest: { readonly origin: HistoryOrigin; readonly number: number } | undefined;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get isFull(): boolean {
    return this.#length === maxFrameEntries * entryWords;
  }

  add({ word0, word1, word2, word3 }: HashWords, outcomeKey: string, origin: HistoryOrigin): void {
    if (this.#length === this.#words.length) {
      const larger = new Uint32Array(this.#words.length * 2);
      larger.set(this.#words);
      this.#words = larger;
    }
    const [words, at] = [this.#words, this.#length];
    words[at] = word0;
    words[at + 1] = word1;
    words[at + 2] = word2;
    // Of the last word the seven bits that name the shard.
    words[at + 3] = word3 & 127;
    words[at + 4] = numberOf(this.#outcomes, outcomeKey);
    words[at + 5] = this.#originNumber(origin);
    this.#length += entryWords;
  }

  /** The frame of the collected entries; later ones go into another. */
  take(): Frame {
    const meta = {
      outcomes: [...this.#outcomes.keys()],
      origins: [...this.#origins.keys()].map((batchUuid, index) => [batchUuid, this.#times[index]]),
    };
    const entries = this.#words.slice(0, this.#length);
    this.#length = 0;
    this.#outcomes.clear();
    this.#origins.clear();
    this.#times.length = 0;
    this.#latest = undefined;
    return { meta, entries };
  }

  #originNumber(origin: HistoryOrigin): number {
    if (this.#latest?.origin === origin) return this.#latest.number;
    const number = numberOf(this.#origins, origin.batchUuid);
    this.#times[number] ??= origin.atMs;
    this.#latest = { origin, number };
    return number;
  }
}

function numberOf(numbers: Map<string, number>, key: string): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

export interface HistoryOrigin {
  readonly batchUuid: string;
  /** When its results were fetched, in ms since the epoch. */
  readonly atMs: number;
}

/** The largest Date. */
const latestMs = 8.64e15;

/** JSON of a frame with entries: what they refer to by number. */
const frameMeta = z.object({
  outcomes: z.array(z.string().refine(isOutcomeKey)),
  origins: z.array(z.tuple([z.string(), z.number().min(0).max(latestMs)])),
});

/** Results by address: its hash, and the numbers of an outcome and an origin, 33 bytes in all. The latest counts. */
export class HistoryEntries {
  readonly #table: AddressTable;
  readonly #outcomes = new NumberList();
  readonly #origins = new NumberList();
  readonly #outcomeKeys: string[] = [];
  readonly #read: Outcome[] = [];
  readonly #outcomeNumbers = new Map<string, number>();
  readonly #originList: HistoryOrigin[] = [];
  readonly #originNumbers = new Map<string, number>();
  /** By origin: its entries, superseded ones included. */
  readonly #counts: number[] = [];
  #taken = 0;

  constructor(seed: Uint8Array) {
    this.#table = new AddressTable({ seed });
  }

  get size(): number {
    return this.#table.size;
  }

  /** Entries replaced by a later one of the same address. */
  get superseded(): number {
    return this.#taken - this.size;
  }

  countOf(batchUuid: string): number {
    return this.#counts[this.#originNumbers.get(batchUuid) ?? -1] ?? 0;
  }

  set(hash: HashWords, outcomeKey: string, origin: HistoryOrigin): void {
    this.#set(hash, this.#outcomeNumber(outcomeKey), this.#originNumber(origin));
  }

  /** The place of an address, or -1. */
  find(hash: HashWords): number {
    return this.#table.findHashed(hash);
  }

  outcomeAt(place: number): number {
    return this.#outcomes.at(place);
  }

  originAt(place: number): number {
    return this.#origins.at(place);
  }

  outcomeKey(outcome: number): string {
    return this.#outcomeKeys[outcome] ?? '';
  }

  outcome(outcome: number): Outcome {
    return (this.#read[outcome] ??= readOutcomeKey(this.outcomeKey(outcome)));
  }

  origin(origin: number): HistoryOrigin {
    const known = this.#originList[origin];
    if (!known) throw new RangeError(`no origin ${origin} of ${this.#originList.length}`);
    return known;
  }

  latestMs(): number {
    return this.#originList.reduce((latest, { atMs }) => Math.max(latest, atMs), -Infinity);
  }

  forEach(visit: (hash: HashWords, place: number) => void): void {
    this.#table.forEach(visit);
  }

  take({ meta, entries }: Frame): boolean {
    const parsed = frameMeta.safeParse(meta);
    if (!parsed.success) return false;
    const outcomes = parsed.data.outcomes.map((key) => this.#outcomeNumber(key));
    const origins = parsed.data.origins.map(([batchUuid, atMs]) =>
      this.#originNumber({ batchUuid, atMs }),
    );
    for (let at = 0; at < entries.length; at += entryWords) {
      const outcome = outcomes[entries[at + 4] ?? -1];
      const origin = origins[entries[at + 5] ?? -1];
      if (outcome === undefined || origin === undefined) return false;
      this.#set(hashAt(entries, at), outcome, origin);
    }
    return true;
  }

  #set(hash: HashWords, outcome: number, origin: number): void {
    this.#taken += 1;
    this.#counts[origin] = (this.#counts[origin] ?? 0) + 1;
    const place = this.#table.addHashed(hash);
    if (place === this.#outcomes.length) {
      this.#outcomes.push(outcome);
      this.#origins.push(origin);
    } else {
      this.#outcomes.set(place, outcome);
      this.#origins.set(place, origin);
    }
  }

  #outcomeNumber(key: string): number {
    const known = this.#outcomeNumbers.get(key);
    if (known !== undefined) return known;
    this.#outcomeNumbers.set(key, this.#outcomeKeys.length);
    return this.#outcomeKeys.push(key) - 1;
  }

  #originNumber(origin: HistoryOrigin): number {
    const known = this.#originNumbers.get(origin.batchUuid);
    if (known !== undefined) return known;
    this.#originNumbers.set(origin.batchUuid, this.#originList.length);
    return this.#originList.push(origin) - 1;
  }
}

export function hashAt(words: Uint32Array | Int32Array, at: number): HashWords {
  const word = (index: number): number => (words[at + index] ?? 0) | 0;
  return { word0: word(0), word1: word(1), word2: word(2), word3: word(3) };
}

/** Its first three values are flags; JSON may hold other values. */
function isRecord(values: readonly unknown[]): boolean {
  return values.length >= 3 && values.every((value) => value === null || typeof value !== 'object');
}

function isOutcomeKey(text: string): boolean {
  try {
    const { verification, values } = readOutcomeKey(text);
    if (verification === 'no_result' || verification === 'failed') return true;
    return values !== undefined && isRecord(values);
  } catch {
    return false;
  }
}
