import { unnumbered } from '../addresses/address-table.js';
import { emailLine } from '../addresses/email-line.js';
import { laneNumber, parseCountryCell, type Lane } from '../addresses/lane.js';
import type { AddressLine } from '../addresses/address-line.js';
import { looksLike, looksLikeEmail, looksLikeOther } from '../addresses/address-form.js';
import { lostPlus } from '../addresses/lost-plus.js';
import { phoneCountry } from '../addresses/phone-country.js';
import { phoneLine } from '../addresses/phone-line.js';
import { plainKeyBytes, writePlainKey } from '../addresses/plain-email.js';
import { trimCell } from '../addresses/trim-cell.js';
import type { NotSubmittedReason } from '../addresses/not-submitted.js';
import type { CountryCode } from '../contract/countries.js';
import type { VerificationType } from '../contract/enums.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { CellText, RawCells, RowChunk } from '../rows/row-chunk.js';
import { maskedCell } from '../words/masked-cell.js';
import { laterTicket, settledTicket, type AddressBook, type Ticket } from './address-book.js';
import type { AddressPartitions } from './address-partitions.js';
import type { BatchCutter, LineBytes } from './batch-cutter.js';
import { CallingCodeTally } from './calling-code-tally.js';
import type { NumberedCells } from './numbered-cells.js';
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
  /** Position of the phone column whose calling codes say the country row by row. */
  readonly phonePosition?: number | undefined;
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

/** How the cells of a verified column look. */
export interface ColumnLooks {
  /** Cells that hold something. */
  filled: number;
  /** Those of them that do not look like what they are verified as. */
  malformed: number;
  /** Those of these that look like what the other type is. */
  others: number;
  /** Phone numbers that may begin with a calling code that has lost its `+`, and are not surely read so. */
  ambiguous: number;
  /** Those of them that may be mobile numbers so. */
  ambiguousMobiles: number;
  /** The first of them, masked. */
  readonly examples: string[];
  /** Of phone numbers, where all rows have one country. */
  readonly callingCodes: CallingCodeTally | undefined;
}

/** The column whose calling codes say the country row by row. */
export interface CallingCodeCounts {
  /** Cells that hold something. */
  filled: number;
  /** Those of them that begin with a calling code. */
  found: number;
}

/** Told of a cell that is sent as something else than it holds. */
export type OnChanged = (cell: string, line: string, column: number) => void;

interface NumberedLane {
  readonly lane: Lane;
  readonly number: number;
}

const mostExamples = 3;

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
  readonly #onChanged: OnChanged | undefined;
  readonly #lanes: Record<VerificationType, Map<CountryCode, NumberedLane>> = {
    email: new Map(),
    phone: new Map(),
  };
  /** What numbers the addresses that come, where the book does no more. */
  #partitions: AddressPartitions | undefined;
  readonly #countries = new Map<CellText, ReturnType<typeof parseCountryCell>>();
  readonly #notSubmittedTickets = new Map<NotSubmittedReason, Ticket>();
  readonly counts: Readonly<Record<VerificationType, PlanCounts>> = {
    email: { submittable: 0, addresses: 0, recalled: 0 },
    phone: { submittable: 0, addresses: 0, recalled: 0 },
  };
  /** By verified column. */
  readonly looks: readonly ColumnLooks[];
  readonly callingCodes: CallingCodeCounts = { filled: 0, found: 0 };

  constructor(options: {
    readonly columns: readonly VerifiedColumn[];
    readonly country: CountryRule;
    readonly book: AddressBook;
    readonly cutter: BatchCutter;
    readonly outcomes: OutcomeTable;
    /** Results of earlier runs. */
    readonly recall?: Recall | undefined;
    readonly onChanged?: OnChanged | undefined;
  }) {
    this.#columns = options.columns;
    const { fallback, position, phonePosition } = options.country;
    const isOneCountry = position === undefined && phonePosition === undefined;
    const only = isOneCountry ? fallback : undefined;
    this.looks = options.columns.map(({ type }) => ({
      filled: 0,
      malformed: 0,
      others: 0,
      ambiguous: 0,
      ambiguousMobiles: 0,
      examples: [],
      callingCodes: type === 'phone' && only ? new CallingCodeTally(only) : undefined,
    }));
    this.#onChanged = options.onChanged;
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
    const { raw } = chunk;
    const tickets = new Uint32Array(chunk.length * width);
    let next = 0;
    for (let row = 0; row < chunk.length; row += 1) {
      const country = this.#countryOf(chunk, row, this.callingCodes);
      for (const [index, { type, position }] of this.#columns.entries()) {
        const lane = type === 'email' ? (ofEmails ?? country) : country;
        const plain =
          raw && type === 'email' && typeof lane === 'string'
            ? this.#plainEmailTicket(raw, row, index, lane, now)
            : undefined;
        tickets[next] = plain ?? this.#ticket(index, chunk.text(row, position), lane, now);
        next += 1;
      }
    }
    return tickets;
  }

  /** The book has handed its addresses over: from now on the tickets of all are {@link laterTicket}s. */
  numberLater(partitions: AddressPartitions): void {
    this.#partitions = partitions;
  }

  /** Numbers the addresses that came since, in the order of their cells; what is new goes to its batch. */
  numberNow(now: number): NumberedCells {
    if (!this.#partitions) throw new Error('nothing was left to be numbered');
    const all = Object.values(this.#lanes).flatMap((lanes) => [...lanes.values()]);
    const lanes = new Map(all.map((lane) => [lane.number, lane]));
    return this.#partitions.numbered((laneNumber, line) => {
      const number = this.#book.size;
      const lane = lanes.get(laneNumber) as NumberedLane;
      if (this.#recall) this.#hashLine(lane, line);
      this.#place(lane, line, now);
      return number;
    });
  }

  /** What is sent for a cell, as it is written there; `undefined` where nothing is. */
  lineOf(chunk: RowChunk, row: number, column: number): string | undefined {
    const { type = 'email', position = 0 } = this.#columns[column] ?? {};
    const country = this.#countryOf(chunk, row);
    const lane = type === 'email' ? (this.#country.ofEmails ?? country) : country;
    const address = addressOf(type, chunk.text(row, position), lane);
    return 'line' in address ? address.line : undefined;
  }

  /** @param counts what is to count the calling codes. @default nothing */
  #countryOf(
    chunk: RowChunk,
    row: number,
    counts?: CallingCodeCounts,
  ): ReturnType<typeof parseCountryCell> {
    const { position, phonePosition, fallback } = this.#country;
    if (phonePosition !== undefined) {
      const number = chunk.text(row, phonePosition);
      const own = phoneCountry(number);
      if (counts && own !== undefined) counts.found += 1;
      if (counts && !isBlank(number)) counts.filled += 1;
      return own ?? fallback ?? { reason: 'country_missing' };
    }
    const cell = position === undefined ? undefined : chunk.text(row, position);
    let country = this.#countries.get(cell);
    if (country === undefined) {
      country = parseCountryCell(cell, fallback);
      if (this.#countries.size < maxKnownCountries) this.#countries.set(cell, country);
    }
    return country;
  }

  /** The ticket of a plain email, straight from its bytes; `undefined` for all other cells. */
  #plainEmailTicket(
    raw: RawCells,
    row: number,
    index: number,
    country: CountryCode,
    now: number,
  ): Ticket | undefined {
    const { bytes } = raw;
    const { position } = this.#columns[index] as VerifiedColumn;
    const start = raw.cellStart(row, position);
    const end = raw.cellEnd(row, position);
    if (!looksLikeEmail(bytes, start, end)) return undefined;
    if (!writePlainKey(bytes, start, end, this.#book.room(plainKeyBytes))) return undefined;
    this.#look(index, true);
    const lane = this.#lane('email', country);
    const number = this.#book.numberFromRoom(lane.number, end - start);
    return this.#take(lane, number, { bytes, start, end }, now);
  }

  #ticket(
    index: number,
    cell: CellText,
    country: ReturnType<typeof parseCountryCell>,
    now: number,
  ): Ticket {
    const { type } = this.#columns[index] as VerifiedColumn;
    const address = addressOf(type, cell, country);
    if (typeof country !== 'string' || ('reason' in address && address.reason === 'empty')) {
      return this.#notSubmitted('reason' in address ? address.reason : 'empty');
    }
    const isAlike = looksLike(type, address, country);
    this.#look(index, isAlike, !isAlike && looksLikeOther(type, cell));
    if (type === 'phone') this.#lookForLostPlus(index, cell, country);
    if ('reason' in address) return this.#notSubmitted(address.reason);
    this.looks[index]?.callingCodes?.add(cell, address.line);
    if (typeof cell === 'string' && cell !== address.line) {
      this.#onChanged?.(cell, address.line, index);
    }

    const lane = this.#lane(type, country);
    const number = this.#book.number(lane.number, address.key);
    return this.#take(lane, number, address.line, now);
  }

  #look(index: number, isAlike: boolean, isOther = false): void {
    const looks = this.looks[index] as ColumnLooks;
    looks.filled += 1;
    if (!isAlike) looks.malformed += 1;
    if (isOther) looks.others += 1;
  }

  #lookForLostPlus(index: number, cell: CellText, country: CountryCode): void {
    const kind = lostPlus(cell, country);
    if (kind === undefined || typeof cell !== 'string') return;
    const looks = this.looks[index] as ColumnLooks;
    looks.ambiguous += 1;
    if (kind === 'mobile') looks.ambiguousMobiles += 1;
    if (looks.examples.length >= mostExamples) return;
    const example = maskedCell(cell, false);
    if (!looks.examples.includes(example)) looks.examples.push(example);
  }

  /** Counts an address; one that is new goes into its lane's open batch, unless its result is known. */
  #take(lane: NumberedLane, number: number, line: string | LineBytes, now: number): Ticket {
    this.counts[lane.lane.type].submittable += 1;
    if (number === unnumbered) {
      this.#partitions?.add(this.#book.lastHash, lane.number, line);
      return laterTicket;
    }
    if (number === this.#book.size) this.#place(lane, line, now);
    return number;
  }

  /** Places the address that was hashed last, which is new. */
  #place({ lane, number }: NumberedLane, line: string | LineBytes, now: number): void {
    const counts = this.counts[lane.type];
    counts.addresses += 1;
    const known = this.#recall?.outcomeOf(this.#book.lastHash) ?? -1;
    if (known === -1) {
      this.#book.assign(this.#cutter.add(number, lane, line, now));
    } else {
      counts.recalled += 1;
      this.#book.assignOutcome(known);
    }
  }

  /** Hashes an address again, from its line. */
  #hashLine({ lane, number }: NumberedLane, { bytes, start, end }: LineBytes): void {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
    const address = addressOf(lane.type, text, lane.country);
    if ('key' in address) this.#book.number(number, address.key);
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

/** What a cell comes to, in the country of its row. */
function addressOf(
  type: VerificationType,
  cell: CellText,
  country: ReturnType<typeof parseCountryCell>,
): AddressLine {
  if (cell === undefined || cell === '') return { reason: 'empty' };
  if (typeof country === 'string') {
    return type === 'email' ? emailLine(cell) : phoneLine(cell, country);
  }
  return { reason: isBlank(cell) ? 'empty' : country.reason };
}

function isBlank(cell: CellText): boolean {
  return cell === undefined || (typeof cell === 'string' && trimCell(cell) === '');
}
