import { emailLine } from '../addresses/email-line.js';
import { laneNumber, parseCountryCell, type Lane } from '../addresses/lane.js';
import { phoneLine } from '../addresses/phone-line.js';
import { trimCell } from '../addresses/trim-cell.js';
import type { NotSubmittedReason } from '../addresses/not-submitted.js';
import type { CountryCode } from '../contract/countries.js';
import type { VerificationType } from '../contract/enums.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { CellText, RowChunk } from '../rows/row-chunk.js';
import { settledTicket, type AddressBook, type Ticket } from './address-book.js';
import type { BatchCutter } from './batch-cutter.js';
import type { Recall } from './result-history.js';

/** A column whose cells are verified. */
export interface VerifiedColumn {
  readonly type: VerificationType;
  /** Position in the source's header. */
  readonly position: number;
}

/** Where a row's target country comes from. */
export interface CountryRule {
  /** Country of the rows whose own cell is empty, or of all. */
  readonly fallback: CountryCode | undefined;
  /** Position of the column that holds a country row by row. */
  readonly position: number | undefined;
  /** Country of all emails, whatever that of their row is. */
  readonly ofEmails?: CountryCode | undefined;
}

/** What became of the cells read so far, for one verification type. */
export interface PlanCounts {
  /** Cells that can be lines. */
  submittable: number;
  /** Unique ones among them. */
  addresses: number;
  /** Those of the unique ones whose result is known from earlier runs: they are not sent. */
  recalled: number;
}

interface NumberedLane {
  readonly lane: Lane;
  readonly number: number;
}

/** Distinct country cells that are remembered; junk in a country column must not fill the memory. */
const maxKnownCountries = 4096;

/**
 * Turns rows into address numbers and batches: each cell becomes a ticket, each address that is new
 * goes into its lane's open batch.
 */
export class Planner {
  readonly #columns: readonly VerifiedColumn[];
  readonly #country: CountryRule;
  readonly #book: AddressBook;
  readonly #cutter: BatchCutter;
  readonly #outcomes: OutcomeTable;
  readonly #recall: Recall | undefined;
  readonly #lanes: Record<VerificationType, Map<CountryCode, NumberedLane>> = {
    email: new Map(),
    phone: new Map(),
  };
  readonly #countries = new Map<CellText, ReturnType<typeof parseCountryCell>>();
  readonly #notSubmittedTickets = new Map<NotSubmittedReason, Ticket>();
  readonly counts: Readonly<Record<VerificationType, PlanCounts>> = {
    email: { submittable: 0, addresses: 0, recalled: 0 },
    phone: { submittable: 0, addresses: 0, recalled: 0 },
  };

  constructor(options: {
    readonly columns: readonly VerifiedColumn[];
    readonly country: CountryRule;
    readonly book: AddressBook;
    readonly cutter: BatchCutter;
    readonly outcomes: OutcomeTable;
    /** Results of earlier runs. */
    readonly recall?: Recall | undefined;
  }) {
    this.#columns = options.columns;
    this.#country = options.country;
    this.#book = options.book;
    this.#cutter = options.cutter;
    this.#outcomes = options.outcomes;
    this.#recall = options.recall;
  }

  /**
   * Plans all rows of a chunk.
   *
   * @param now what batches opened by these rows are stamped with
   * @returns one ticket for each verified column of each row, row after row
   */
  plan(chunk: RowChunk, now: number): Uint32Array {
    const width = this.#columns.length;
    const { ofEmails } = this.#country;
    const tickets = new Uint32Array(chunk.length * width);
    let next = 0;
    for (let row = 0; row < chunk.length; row += 1) {
      const country = this.#countryOf(chunk, row);
      for (const column of this.#columns) {
        const lane = column.type === 'email' ? (ofEmails ?? country) : country;
        tickets[next] = this.#ticket(column.type, chunk.text(row, column.position), lane, now);
        next += 1;
      }
    }
    return tickets;
  }

  #countryOf(chunk: RowChunk, row: number): ReturnType<typeof parseCountryCell> {
    const { position, fallback } = this.#country;
    const cell = position === undefined ? undefined : chunk.text(row, position);
    let country = this.#countries.get(cell);
    if (country === undefined) {
      country = parseCountryCell(cell, fallback);
      if (this.#countries.size < maxKnownCountries) this.#countries.set(cell, country);
    }
    return country;
  }

  #ticket(
    type: VerificationType,
    cell: CellText,
    country: ReturnType<typeof parseCountryCell>,
    now: number,
  ): Ticket {
    if (cell === undefined || cell === '') return this.#notSubmitted('empty');
    if (typeof country !== 'string') {
      const isBlank = typeof cell === 'string' && trimCell(cell) === '';
      return this.#notSubmitted(isBlank ? 'empty' : country.reason);
    }
    const address = type === 'email' ? emailLine(cell) : phoneLine(cell, country);
    if ('reason' in address) return this.#notSubmitted(address.reason);

    const counts = this.counts[type];
    counts.submittable += 1;
    const lane = this.#lane(type, country);
    const size = this.#book.size;
    const number = this.#book.number(lane.number, address.key);
    if (number < size) return number;
    counts.addresses += 1;
    const known = this.#recall?.outcomeOf(this.#book.lastHash) ?? -1;
    if (known === -1) {
      this.#book.assign(this.#cutter.add(lane.number, lane.lane, address.line, now));
    } else {
      counts.recalled += 1;
      this.#book.assignOutcome(known);
    }
    return number;
  }

  #lane(type: VerificationType, country: CountryCode): NumberedLane {
    const known = this.#lanes[type].get(country);
    if (known !== undefined) return known;
    const lane = { type, country };
    const numbered = { lane, number: laneNumber(lane) };
    this.#lanes[type].set(country, numbered);
    return numbered;
  }

  #notSubmitted(reason: NotSubmittedReason): Ticket {
    const known = this.#notSubmittedTickets.get(reason);
    if (known !== undefined) return known;
    const ticket = settledTicket(this.#outcomes.idOf('not_submitted', reason));
    this.#notSubmittedTickets.set(reason, ticket);
    return ticket;
  }
}
