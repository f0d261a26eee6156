import type { AddressLine } from '../addresses/address-line.js';
import { emailLine } from '../addresses/email-line.js';
import { exportKeyCandidates } from '../addresses/export-key.js';
import { laneNumber } from '../addresses/lane.js';
import { phoneLine } from '../addresses/phone-line.js';
import { StateError } from '../errors/family.js';
import type { BatchResults, LineResults } from '../results/batch-results.js';
import { matchExport, type BatchAddresses, type MatchedExport } from '../results/match-export.js';
import type { Origin, OutcomeTable } from '../results/outcome-table.js';
import type { AddressBook } from './address-book.js';
import type { Batch } from './batch.js';
import type { FailedReason } from './known-batch.js';
import { readLines } from './read-lines.js';
import type { AddressResult } from './result-history.js';
import { SubmittedLines } from './submitted-lines.js';

/** Begins an export from its first byte, as often as asked. */
export type ExportOpener = () => Promise<AsyncIterable<Uint8Array>>;

/** No address has it. */
const noNumber = 0xffff_ffff;

/** How a batch ended. */
export type BatchEnding =
  | { readonly failure: FailedReason }
  /** The export itself, or what is known from it already. */
  | { readonly results: ExportOpener | BatchResults };

/** Brings what exports say to the addresses of their batches. */
export class ResultJoin {
  readonly #book: AddressBook;
  readonly #outcomes: OutcomeTable;

  constructor(parts: { readonly book: AddressBook; readonly outcomes: OutcomeTable }) {
    this.#book = parts.book;
    this.#outcomes = parts.outcomes;
  }

  /**
   * Reads a whole export and finds the addresses of its records. Nothing is settled by it.
   *
   * @throws ContractError `broken_contract`, retryable, when the export is not whole
   */
  async match(batch: Batch, open: ExportOpener): Promise<MatchedExport> {
    const { type } = batch.lane;
    const stretch = await this.#stretchOf(batch);
    return matchExport(open, this.#addressesOf(batch, stretch), { type, outcomes: this.#outcomes });
  }

  /**
   * Gives every address of a batch its outcome: once, when the batch is at its end.
   *
   * @param origin where the results are from, where that is asked for
   * @throws StateError `state_damaged` when the results are not of this batch
   */
  async settle(batch: Batch, ending: BatchEnding, origin?: Origin): Promise<void> {
    // Before any of its addresses has its own outcome, and waits no longer.
    const stretch = await this.#stretchOf(batch);
    const marked = this.#marking(origin);
    if ('failure' in ending) {
      this.#settleRest(batch, stretch, marked(this.#outcomes.idOf('failed', ending.failure)));
      return;
    }
    const { results } = ending;
    const { numbers, outcomes } =
      typeof results === 'function' ? await this.match(batch, results) : results;
    for (let index = 0; index < numbers.length; index += 1) {
      const outcome = marked(outcomes[index] as number);
      // What another process kept must never get on the address of another batch.
      if (!this.#book.resolve(numbers[index] as number, batch.id, outcome)) {
        throw new StateError('results were kept for addresses that their batch does not have', {
          code: 'state_damaged',
        });
      }
    }
    this.#settleRest(batch, stretch, marked(this.#outcomes.idOf('no_result', 'no_record')));
  }

  /** Names results of a batch that is not settled by its lines: that outlasts the run. */
  async byLine(batch: Batch, { numbers, outcomes }: BatchResults): Promise<LineResults> {
    const known = await this.#numbersOf(batch);
    return { lines: numbers.map((number) => placeOf(number, known)), outcomes };
  }

  /** The same results by the numbers that the addresses of the lines have here. */
  async byNumber(batch: Batch, { lines, outcomes }: LineResults): Promise<BatchResults> {
    const known = await this.#numbersOf(batch);
    return { numbers: lines.map((line) => known[line] ?? noNumber), outcomes };
  }

  /** The addresses of a batch that is settled, each with its outcome. */
  async *results(batch: Batch): AsyncGenerator<AddressResult> {
    const lane = laneNumber(batch.lane);
    for await (const line of readLines(batch)) {
      const address = addressOf(batch, line);
      if ('key' in address) {
        const outcome = this.#book.outcome(this.#book.find(lane, address.key));
        yield { lane, key: address.key, outcome };
      }
    }
  }

  /** Outcomes of a batch are few: each is marked with its origin once. */
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

  /** Gives the addresses of a batch that is not at its end an outcome that says so. */
  settleUnfinished(batch: Batch): void {
    if (this.#book.isSettled(batch.id)) return;
    this.#book.settle(batch.id, this.#outcomes.idOf('failed', 'not_finished'));
  }

  /** The numbers of a batch's lines, in their order: all of them wait for it. */
  async #numbersOf(batch: Batch): Promise<Uint32Array> {
    const numbers = new Uint32Array(batch.addresses);
    let next = (await this.#stretchOf(batch))?.first ?? 0;
    for (let line = 0; line < numbers.length; line += 1) {
      const number = this.#book.nextWaiting(batch.id, next);
      if (number === -1) throw new Error('a batch has fewer addresses that wait for it than lines');
      numbers[line] = number;
      next = number + 1;
    }
    return numbers;
  }

  #settleRest(batch: Batch, stretch: Stretch | undefined, outcome: number): void {
    if (stretch) this.#book.settleStretch(batch.id, stretch, outcome);
    else this.#book.settle(batch.id, outcome);
  }

  /** The numbers between which those of a part lie; `undefined` for a whole batch. */
  async #stretchOf(batch: Batch): Promise<Stretch | undefined> {
    if (!batch.part) return undefined;
    for await (const line of readLines(batch)) {
      const first = this.#numberOf(batch, line);
      if (first === -1) break;
      return { first, last: this.#book.lastWaiting(batch.id, first, batch.addresses) };
    }
    throw new Error('a part of a batch begins with no address that waits for it');
  }

  /** The number of the address of a line, if it waits for this batch, else -1. */
  #numberOf(batch: Batch, line: string): number {
    const address = addressOf(batch, line);
    if (!('key' in address)) return -1;
    return this.#book.findWaiting(laneNumber(batch.lane), address.key, batch.id);
  }

  #addressesOf(batch: Batch, stretch: Stretch | undefined): BatchAddresses {
    const { type, country } = batch.lane;
    const lane = laneNumber(batch.lane);
    const { first, last } = stretch ?? { first: 0, last: Infinity };
    const find = (key: string): number => {
      const number = this.#book.findWaiting(lane, key, batch.id);
      return number >= first && number <= last ? number : -1;
    };
    return {
      candidates(exportedKey) {
        const keys = exportKeyCandidates(type, exportedKey, country);
        const [only] = keys;
        if (only !== undefined && keys.length === 1) return find(only);
        const numbers = keys.map(find).filter((number) => number !== -1);
        return numbers.length > 1 ? numbers : (numbers[0] ?? -1);
      },
      expected: () => new SubmittedLines(batch, this.#book, (line) => this.#numberOf(batch, line)),
      linesOf: async (wanted) => {
        const found = new Map<number, string>();
        for await (const line of readLines(batch)) {
          const number = this.#numberOf(batch, line);
          if (wanted.has(number)) found.set(number, line);
        }
        return found;
      },
    };
  }
}

/** The place of a number among others that grow. */
function placeOf(number: number, among: Uint32Array): number {
  let from = 0;
  for (let to = among.length; from < to;) {
    const middle = (from + to) >>> 1;
    if ((among[middle] ?? 0) < number) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The address of a line of a batch. */
export function addressOf({ lane }: Batch, line: string): AddressLine {
  return lane.type === 'email' ? emailLine(line) : phoneLine(line, lane.country);
}

/** The first and the last number of a part's addresses. */
interface Stretch {
  readonly first: number;
  readonly last: number;
}
