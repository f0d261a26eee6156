import { unnumbered } from '../../platform/hashing/address-table.js';
import type { NotSubmittedReason } from '../addresses/address.js';
import type { VerificationType } from '../../contract/enums.js';
import type { OutcomeTable } from '../results/outcome-table.js';
import type { RowChunk } from '../../lists/rows/chunks/row-chunk.js';
import type { BatchCutter, LineBytes } from './batch-cutter.js';
import type { Recall } from './result-cache.js';
import { laterTicket, settledTicket, type AddressBook, type Ticket } from './address-book.js';
import type { ExternalDedup } from './external-dedup.js';
import type { DedupMerge } from './dedup-merge.js';
import {
  addressOf,
  CellReader,
  type NumberedGroup,
  type OnChanged,
  type VerifiedColumn,
} from './cell-reader.js';
import type { Suppressed } from './suppressed.js';
import type { CountryRule } from './row-countries.js';

interface PlanCounts {
  /** Cells that can be lines. */
  submittable: number;
  /** Unique ones among them. */
  addresses: number;
  /** Unique addresses with a result from earlier runs: not sent. */
  recalled: number;
}

/** So many show whether a history has a list under another country. */
const sampledAddresses = 50;

/** Turns rows into tickets and batches: each cell becomes a ticket, each new address a line in its group's open batch. */
export class Planner {
  readonly cells: CellReader;
  readonly #width: number;
  readonly #book: AddressBook;
  readonly #cutter: BatchCutter;
  readonly #outcomes: OutcomeTable;
  readonly #recall: Recall | undefined;
  /** Those to be sent, where rows have countries of their own. */
  readonly emailsOfCountries: EmailsOfCountries | undefined;
  /** The first addresses that earlier runs have no result of. */
  readonly unknown: Readonly<Record<VerificationType, string[]>> = { email: [], phone: [] };
  /** Numbers addresses on disk once the book no longer does. */
  #partitions: ExternalDedup | undefined;
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
    readonly recall?: Recall | undefined;
    readonly onChanged?: OnChanged | undefined;
    readonly suppressed?: Suppressed | undefined;
  }) {
    this.cells = new CellReader({ ...options, table: options.book.table });
    this.#width = options.columns.length;
    this.#book = options.book;
    this.#cutter = options.cutter;
    this.#outcomes = options.outcomes;
    this.#recall = options.recall;
    const { position, phonePosition, ofEmails } = options.country;
    const isByRow = ofEmails === undefined && (position ?? phonePosition) !== undefined;
    this.emailsOfCountries = isByRow ? new EmailsOfCountries() : undefined;
  }

  /** Plans all rows of a chunk. @param now opening time of new batches @returns a ticket for each cell, row after row */
  plan(chunk: RowChunk, now: number): Uint32Array {
    const width = this.#width;
    const tickets = new Uint32Array(chunk.length * width);
    const { rowsAtOnce, hashes } = this.cells;
    for (let from = 0; from < chunk.length; from += rowsAtOnce) {
      const to = Math.min(from + rowsAtOnce, chunk.length);
      this.cells.read(chunk, from, to);
      this.#book.table.fetch(hashes, (to - from) * width);
      this.#number(tickets.subarray(from * width, to * width), now);
    }
    return tickets;
  }

  /** The book has handed over its addresses: from now on every ticket is a {@link laterTicket}. */
  numberLater(partitions: ExternalDedup): void {
    this.#partitions = partitions;
  }

  /** Numbers the addresses that came since, in the order of their cells, and adds new ones to their batches. */
  numberNow(): DedupMerge {
    if (!this.#partitions) throw new Error('nothing was left to be numbered');
    const groups = new Map(this.cells.groups.map((group) => [group.number, group]));
    return this.#partitions.numbered((groupNumber, line) => {
      const number = this.#book.size;
      const group = groups.get(groupNumber) as NumberedGroup;
      if (this.#recall) this.#hashLine(group, line);
      this.#place(group, line, 0);
      return number;
    });
  }

  #number(tickets: Uint32Array, now: number): void {
    const cells = this.cells;
    for (let place = 0; place < tickets.length; place += 1) {
      const group = cells.groupAt(place);
      if (group === undefined) {
        tickets[place] = this.#notSubmitted(cells.reasonAt(place));
        continue;
      }
      const number = this.#book.table.addFrom(cells.hashes, place);
      tickets[place] = this.#take(group, number, cells.lineAt(place), now);
    }
  }

  /** Counts an address; a new one goes into its group's open batch, unless its result is known. */
  #take(group: NumberedGroup, number: number, line: string | LineBytes, now: number): Ticket {
    this.#countsOf(group).submittable += 1;
    if (number === unnumbered) {
      this.#partitions?.add(this.#book.table.lastHash, group.number, line);
      return laterTicket;
    }
    if (number === this.#book.size) this.#place(group, line, now);
    return number;
  }

  #place(numbered: NumberedGroup, line: string | LineBytes, now: number): void {
    const { group, number } = numbered;
    const counts = this.#countsOf(numbered);
    counts.addresses += 1;
    const known = this.#recall?.outcomeOf(this.#book.table.lastHash) ?? -1;
    if (known === -1) {
      const unknown = this.unknown[group.type];
      if (this.#recall && unknown.length < sampledAddresses) unknown.push(textOf(line));
      if (group.type === 'email') this.emailsOfCountries?.add(number, line);
      this.#book.assign(this.#cutter.add(number, group, line, now));
    } else {
      counts.recalled += 1;
      this.#book.assignOutcome(known);
    }
  }

  #countsOf({ group }: NumberedGroup): PlanCounts {
    return group.type === 'email' ? this.counts.email : this.counts.phone;
  }

  #hashLine({ group, number }: NumberedGroup, line: LineBytes): void {
    const address = addressOf(group.type, textOf(line), group.country);
    if ('key' in address) this.#book.table.add(number, address.key);
  }

  #notSubmitted(reason: NotSubmittedReason): Ticket {
    const known = this.#notSubmittedTickets.get(reason);
    if (known !== undefined) return known;
    const ticket = settledTicket(this.#outcomes.idOf('not_submitted', reason));
    this.#notSubmittedTickets.set(reason, ticket);
    return ticket;
  }
}

function textOf(line: string | LineBytes): string {
  if (typeof line === 'string') return line;
  const { bytes, start, end } = line;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

/** Most emails that are remembered: of more, an even sample is counted. */
const mostKept = 16_384;
const several = -1;

/**
 * Counts emails that are sent for several countries, and paid for once in each. The hashes of addresses
 * contain their group, so these do not compare across countries.
 */
export class EmailsOfCountries {
  /** By hash: the number of its first group, or {@link several}. */
  readonly #groups = new Map<number, number>();
  /** Emails whose hash has one of these bits are not counted. */
  #mask = 0;
  #several = 0;

  /** @param line as it is sent, once for each group */
  add(group: number, line: string | LineBytes): void {
    const text = typeof line === 'string' ? line.toLowerCase() : undefined;
    const sampled = hashOf(text ?? line, 0x81_1c_9d_c5);
    if ((sampled & this.#mask) !== 0) return;
    // Two hashes of 32 bits: two emails hardly ever share both.
    const hash = (hashOf(text ?? line, 0x1b_87_35_93) >>> 11) * 0x1_0000_0000 + sampled;
    if (!this.#groups.has(hash)) {
      this.#groups.set(hash, group);
      if (this.#groups.size > mostKept) this.#thin();
    } else if (this.#groups.get(hash) !== several) {
      this.#groups.set(hash, several);
      this.#several += 1;
    }
  }

  /** How many; of very many emails about as many. */
  get count(): number {
    return this.#several * (this.#mask + 1);
  }

  #thin(): void {
    this.#mask = this.#mask * 2 + 1;
    for (const [hash, group] of this.#groups) {
      if ((hash & this.#mask) === 0) continue;
      this.#groups.delete(hash);
      if (group === several) this.#several -= 1;
    }
  }
}

/** An FNV-1a hash without the case of bytes, of which the low bits are mixed. */
function hashOf(line: string | LineBytes, seed: number): number {
  const end = typeof line === 'string' ? line.length : line.end;
  let hash = seed;
  for (let at = typeof line === 'string' ? 0 : line.start; at < end; at += 1) {
    const unit =
      typeof line === 'string' ? line.charCodeAt(at) : lowerCase(line.bytes[at] as number);
    hash = Math.imul(hash ^ unit, 0x01_00_01_93);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45_d9_f3_b5);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}
