import { randomBytes } from 'node:crypto';
import { trimCell, groupNumber, type BatchGroup } from '../addresses/address.js';
import { AddressTable } from '../../platform/hashing/address-table.js';
import { hashWords } from '../../platform/hashing/key-hash.js';
import { emailLine } from '../addresses/email.js';
import { phoneLine } from '../addresses/phone/phone-line.js';
import { StateError } from '../../platform/errors/errors.js';
import {
  type BatchResults,
  type LineResults,
  matchExport,
  type BatchAddresses,
  type MatchedExport,
} from '../results/match-export.js';
import type { Origin, OutcomeTable } from '../results/outcome-table.js';
import type { AddressBook } from './address-book.js';
import { type Batch, readLines } from '../batches/batch.js';
import type { FailedReason } from '../batches/batch-state.js';
import { addressOf, lineHashes } from './line-hashes.js';
import { ExpectedLines } from './expected-lines.js';
import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { possibleNumbers, doubtfulForms } from '../addresses/phone/phone-readings.js';
import { barePhone, phoneDigits } from '../addresses/phone/phone-digits.js';

/** Opens an export from its first byte, as often as called. */
export type ExportOpener = () => Promise<AsyncIterable<Uint8Array>>;

const noNumber = 0xffff_ffff;

export type BatchEnding =
  | { readonly failure: FailedReason }
  /** The export itself, or its known results. */
  | { readonly results: ExportOpener | BatchResults };

export class ResultJoin {
  readonly #book: AddressBook;
  readonly #outcomes: OutcomeTable;
  /** By split batch: the numbers of all its addresses while they all waited for it. */
  readonly #split = new Map<number, Uint32Array>();

  constructor(parts: { readonly book: AddressBook; readonly outcomes: OutcomeTable }) {
    this.#book = parts.book;
    this.#outcomes = parts.outcomes;
  }

  /** Reads a whole export and finds its records' addresses, without settling any. */
  async match(batch: Batch, open: ExportOpener): Promise<MatchedExport> {
    const { type } = batch.group;
    return matchExport(open, await this.#addressesOf(batch), { type, outcomes: this.#outcomes });
  }

  /** Gives every address of a finished batch its outcome. @param origin the results' origin, where asked for */
  async settle(batch: Batch, ending: BatchEnding, origin?: Origin): Promise<void> {
    // Before any of its addresses is resolved and no longer waits.
    const part = batch.part && this.numbersOf(batch);
    const marked = this.#marking(origin);
    if ('failure' in ending) {
      this.#settleRest(batch, part, marked(this.#outcomes.idOf('failed', ending.failure)));
      return;
    }
    const { results } = ending;
    const { numbers, outcomes } =
      typeof results === 'function' ? await this.match(batch, results) : results;
    for (let index = 0; index < numbers.length; index += 1) {
      const outcome = marked(outcomes[index] as number);
      // Another process's results must never reach an address of another batch.
      if (!this.#book.resolve(numbers[index] as number, batch.id, outcome)) {
        throw new StateError('results were kept for addresses that their batch does not have', {
          code: 'state_damaged',
        });
      }
    }
    this.#settleRest(batch, part, marked(this.#outcomes.idOf('no_result', 'no_record')));
  }

  /** Names results of an unsettled batch by its lines, which stay valid after the run. */
  byLine(batch: Batch, { numbers, outcomes }: BatchResults): LineResults {
    const known = this.numbersOf(batch);
    let next = 0;
    const lines = numbers.map((number) => {
      // Services list nearly all addresses in the order of the lines.
      const line = known[next] === number ? next : placeOf(number, known);
      next = line + 1;
      return line;
    });
    return { lines, outcomes };
  }

  /** The same results by this run's address numbers. */
  byNumber(batch: Batch, { lines, outcomes }: LineResults): BatchResults {
    const known = this.numbersOf(batch);
    return { numbers: lines.map((line) => known[line] ?? noNumber), outcomes };
  }

  /** The outcome of a settled batch's address. @param number its number, from an earlier `numbersOf` */
  outcomeOf(number: number | undefined): number {
    return this.#book.outcome(number ?? noNumber);
  }

  /** A batch has few outcomes: each gets its origin once. */
  #marking(origin: Origin | undefined): (outcome: number) => number {
    if (!origin) return (outcome) => outcome;
    const known = new Map<number, number>();
    return (outcome) => {
      let marked = known.get(outcome);
      if (marked === undefined) {
        marked = this.#outcomes.withOrigin(outcome, origin);
        known.set(outcome, marked);
      }
      return marked;
    };
  }

  settleUnfinished(batch: Batch): void {
    if (this.#book.isSettled(batch.id)) return;
    this.#book.settle(batch.id, this.#outcomes.idOf('failed', 'not_finished'));
  }

  /** The numbers of a batch's lines, in order, while all of them wait for it. */
  numbersOf({ id, addresses, part }: Batch): Uint32Array {
    if (!part) return this.#waitingFor(id, addresses);
    // The first call is for a part of which no other is settled.
    const whole = this.#split.get(id) ?? this.#waitingFor(id, part.of);
    this.#split.set(id, whole);
    return whole.subarray(part.start, part.start + addresses);
  }

  #waitingFor(batch: number, addresses: number): Uint32Array {
    const numbers = this.#book.allWaiting(batch, addresses);
    if (numbers.length < addresses) {
      throw new Error('a batch has fewer addresses that wait for it than lines');
    }
    return numbers;
  }

  #settleRest(batch: Batch, part: Uint32Array | undefined, outcome: number): void {
    if (!part) this.#book.settle(batch.id, outcome);
    else for (const number of part) this.#book.resolve(number, batch.id, outcome);
  }

  async #finderOf(batch: Batch): Promise<(key: string) => number> {
    const group = groupNumber(batch.group);
    if (this.#book.isHandedOver) return findByLines(batch, this.numbersOf(batch));
    const numbers = batch.part && this.numbersOf(batch);
    const [first, last] = [numbers?.[0] ?? 0, numbers?.at(-1) ?? noNumber];
    return (key) => {
      const number = this.#book.findWaiting(group, key, batch.id);
      return number >= first && number <= last ? number : -1;
    };
  }

  async #addressesOf(batch: Batch): Promise<BatchAddresses> {
    const find = await this.#finderOf(batch);
    const numberOf = (line: string): number => {
      const address = addressOf(batch, line);
      return 'key' in address ? find(address.key) : -1;
    };
    const candidates = candidatesBy(batch.group, find);
    return {
      candidates,
      expected: () => new ExpectedLines(batch, this.#book, numberOf),
      linesOf: async (wanted) => {
        const found = new Map<number, string>();
        for await (const line of readLines(batch)) {
          const number = numberOf(line);
          if (wanted.has(number)) found.set(number, line);
        }
        return found;
      },
      ...(batch.group.type === 'phone' && {
        spellings: async function* (found, hasRecord) {
          if (found >= batch.addresses) return;
          for await (const line of readLines(batch)) {
            const number = numberOf(line);
            if (number === -1 || hasRecord(number)) continue;
            const alike = candidates(line);
            if (typeof alike !== 'number') yield [number, alike.filter((each) => each !== number)];
          }
        },
      }),
    };
  }
}

/** The addresses of a batch group that an exported key may stand for, by a function that finds a number by its key. */
export function candidatesBy(
  { type, country }: BatchGroup,
  find: (key: string) => number,
): BatchAddresses['candidates'] {
  return (exportedKey) => {
    const keys = exportKeyCandidates(type, exportedKey, country);
    const [only] = keys;
    if (only !== undefined && keys.length === 1) return find(only);
    const numbers = keys.map(find).filter((number) => number !== -1);
    return numbers.length > 1 ? numbers : (numbers[0] ?? -1);
  };
}

function placeOf(number: number, among: Uint32Array): number {
  let from = 0;
  for (let to = among.length; from < to;) {
    const middle = (from + to) >>> 1;
    if ((among[middle] ?? 0) < number) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Finds the numbers of a batch's addresses by its lines alone, by hashes with their own seed, where no table is left. */
async function findByLines(batch: Batch, numbers: Uint32Array): Promise<(key: string) => number> {
  const group = groupNumber(batch.group);
  const seed = randomBytes(32);
  const table = new AddressTable({ seed });
  for await (const hashes of lineHashes(batch, seed)) {
    for (let place = 0; place < hashes.length / hashWords; place += 1) table.addFrom(hashes, place);
  }
  if (table.size !== numbers.length) {
    throw new Error('the lines of a batch are not those that wait for it');
  }
  return (key) => numbers[table.find(group, key)] ?? -1;
}

/**
 * The lookup keys that a key of an export may stand for, the likeliest first; none when it cannot be a line.
 * Phones in digits alone may be national or lack their `+`, and a service reads ambiguous cells in its own
 * way: when two of the keys are addresses of the batch, the export does not tell which is meant.
 */
export function exportKeyCandidates(
  type: VerificationType,
  exportedKey: string,
  country: CountryCode,
): readonly string[] {
  const address = type === 'email' ? emailLine(exportedKey) : phoneLine(exportedKey, country);
  if ('reason' in address) return [];
  if (type === 'email') return [address.key];
  const digits = phoneDigits(barePhone(trimCell(exportedKey)));
  if (digits === undefined) return [address.key];
  const abroad = digits.digits.startsWith('+') ? digits : { digits: `+${digits.digits}` };
  const numbers = new Set(
    address.key.startsWith('+') ? [address.key] : possibleNumbers(digits, country),
  );
  for (const number of possibleNumbers(abroad, country)) numbers.add(number);
  const forms = [...numbers].flatMap((number) => doubtfulForms(number, country));
  return [...new Set([address.key, ...numbers, ...forms.map((form) => `d${form}`)])];
}
