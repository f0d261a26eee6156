import {
  type AddressLine,
  type NotSubmittedReason,
  groupNumber,
  type BatchGroup,
  trimCell,
} from '../addresses/address.js';
import { listText, looksLike, looksLikeEmail, looksLikeOther } from '../addresses/cell-form.js';
import { emailLine, plainKeyBytes, writePlainKey } from '../addresses/email.js';
import {
  hasCallingCode,
  missingPlusSign,
  missingPlusSignOf,
  mayMissPlusSign,
} from '../addresses/phone/phone-country.js';
import { planOf } from '../addresses/phone/numbering-plan.js';
import {
  mayBeSideBySide,
  phoneLine,
  plainDigits,
  plainFamily,
  plainNumberBytes,
  plainText,
  readPlainDigits,
  writePlainNumber,
} from '../addresses/phone/phone-line.js';
import { barePhone, phoneDigits } from '../addresses/phone/phone-digits.js';
import { sureNumber } from '../addresses/phone/phone-readings.js';
import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { AddressTable } from '../../platform/hashing/address-table.js';
import { hashWords } from '../../platform/hashing/key-hash.js';
import {
  type CellText,
  invalidText,
  type RawCells,
  type RowChunk,
} from '../../lists/rows/chunks/row-chunk.js';
import { isJsonObject } from '../../lists/jsonl/parse-json-row.js';
import type { LineBytes } from './batch-cutter.js';
import {
  addCell,
  addMissingPlusSign,
  createProfile,
  type ColumnProfile,
} from '../columns/column-profile.js';
import type { Suppressed } from './suppressed.js';
import {
  isBlank,
  RowCountries,
  type CountryRule,
  type RowCountry,
  type RowCountryCounts,
} from './row-countries.js';

export interface VerifiedColumn {
  readonly type: VerificationType;
  readonly position: number;
}

export type OnChanged = (cell: string, line: string, column: number) => void;

/** A batch group, with its number in the hashes of its addresses. */
export interface NumberedGroup {
  readonly group: BatchGroup;
  readonly number: number;
}

/** Cells read before the first of them is numbered. */
const cellsAhead = 256;

/**
 * Reads the verified cells of some rows and hashes their addresses before any is numbered: the address table
 * is not cached, and many lookups at once hide its latency.
 */
export class CellReader {
  readonly #columns: readonly VerifiedColumn[];
  readonly #countries: RowCountries;
  readonly #ofEmails: CountryCode | undefined;
  readonly #table: AddressTable;
  readonly #onChanged: OnChanged | undefined;
  readonly #suppressed: Suppressed | undefined;
  readonly #groups: Record<VerificationType, Map<CountryCode, NumberedGroup>> = {
    email: new Map(),
    phone: new Map(),
  };
  /** By verified column: the previous cell's group. */
  readonly #lastGroups: NumberedGroup[] = [];
  readonly rowsAtOnce: number;
  /** By position, row after row: the hash of the cell's address. */
  readonly hashes: Int32Array;
  // Its batch group, where the cell holds an address,
  readonly #groupOf: (NumberedGroup | undefined)[] = [];
  // its line, or the reason why not; where the line consists of bytes of the chunk or of the numbers,
  readonly #lines: (string | undefined)[] = [];
  // these bytes, and where they start and end.
  #bytes: Uint8Array = new Uint8Array(0);
  readonly #numbers: Buffer;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;
  /** Rows read, and how many of them before the current chunk. */
  #rows = 0;
  #rowsBefore = 0;
  /** Cells that are suppressed as they come from one cell with a suppressed address. */
  besideSuppressed = 0;
  hasSuppressed = false;
  /** By verified column. */
  readonly profiles: readonly ColumnProfile[];
  readonly countries: RowCountryCounts = {
    cells: { filled: 0, found: 0 },
    codes: { filled: 0, found: 0 },
    letters: new Map(),
  };

  constructor(options: {
    readonly columns: readonly VerifiedColumn[];
    readonly country: CountryRule;
    readonly table: AddressTable;
    readonly onChanged?: OnChanged | undefined;
    readonly suppressed?: Suppressed | undefined;
  }) {
    this.#columns = options.columns;
    this.#countries = new RowCountries(options.country);
    this.#ofEmails = options.country.ofEmails;
    const { only } = this.#countries;
    const { fallback } = options.country;
    this.profiles = options.columns.map(({ type }) => createProfile(type, only, fallback));
    // With an earlier plan no cell is read, and there are no columns.
    this.rowsAtOnce = Math.max(1, Math.floor(cellsAhead / Math.max(1, options.columns.length)));
    const places = this.rowsAtOnce * options.columns.length;
    this.hashes = new Int32Array(places * hashWords);
    this.#numbers = Buffer.alloc(places * plainNumberBytes);
    this.#starts = new Uint32Array(places);
    this.#ends = new Uint32Array(places);
    this.#onChanged = options.onChanged;
    this.#suppressed = options.suppressed;
    this.#table = options.table;
  }

  get groups(): readonly NumberedGroup[] {
    return Object.values(this.#groups).flatMap((groups) => [...groups.values()]);
  }

  read(chunk: RowChunk, from: number, to: number): void {
    const { raw } = chunk;
    if (raw) this.#bytes = raw.bytes;
    let place = 0;
    this.#rowsBefore = this.#rows - from;
    this.#rows += to - from;
    for (let row = from; row < to; row += 1) {
      const country = this.#countries.of(chunk, row, this.countries);
      for (let index = 0; index < this.#columns.length; index += 1, place += 1) {
        const { type } = this.#columns[index] as VerifiedColumn;
        const groupCountry = type === 'email' ? (this.#ofEmails ?? country) : country;
        if (raw && typeof groupCountry === 'string') {
          const isRead =
            type === 'email'
              ? this.#readPlainEmail(raw, row, index, groupCountry, place)
              : this.#readPlainPhone(chunk, raw, row, index, groupCountry, place);
          if (isRead) continue;
        }
        this.#readCell(chunk, row, index, groupCountry, place);
      }
    }
  }

  /** The batch group of the address at a position; `undefined` without an address. */
  groupAt(place: number): NumberedGroup | undefined {
    return this.#groupOf[place];
  }

  reasonAt(place: number): NotSubmittedReason {
    return this.#lines[place] as NotSubmittedReason;
  }

  lineAt(place: number): string | LineBytes {
    const line = this.#lines[place];
    if (line !== undefined) return line;
    const bytes = this.#groupOf[place]?.group.type === 'phone' ? this.#numbers : this.#bytes;
    return { bytes, start: this.#starts[place] as number, end: this.#ends[place] as number };
  }

  /** A cell's line; `undefined` where nothing is sent. */
  lineOf(chunk: RowChunk, row: number, column: number): string | undefined {
    const address = this.addressOf(chunk, row, column);
    const { type = 'email' } = this.#columns[column] ?? {};
    if (!address || !this.#suppressed) return address?.line;
    const country = this.#countries.of(chunk, row);
    const { position = 0 } = this.#columns[column] ?? {};
    const cell = chunk.text(row, position);
    const isSuppressed =
      this.#isSuppressed(type, cell, address.key, country) ||
      this.#isBesideSuppressed(type, chunk.parts?.(row, position), country);
    return isSuppressed ? undefined : address.line;
  }

  #isSuppressed(type: VerificationType, cell: CellText, key: string, country: RowCountry): boolean {
    if (!this.#suppressed) return false;
    if (type === 'email') return this.#suppressed.hasEmail(key);
    if (typeof cell !== 'string' || typeof country !== 'string') return false;
    const digits = phoneDigits(barePhone(trimCell(cell)))?.digits;
    return this.#suppressed.hasPhone(key, digits, country);
  }

  /** Who has unsubscribed one address of a cell is not written to at another. */
  #isBesideSuppressed(
    type: VerificationType,
    parts: readonly string[] | undefined,
    country: RowCountry,
  ): boolean {
    if (!parts || !this.#suppressed) return false;
    return parts.some((part) => this.#holdsSuppressed(type, part, country));
  }

  /** The same of a cell that is not sent as it is. */
  #holdsSuppressed(type: VerificationType, cell: string, country: RowCountry): boolean {
    const known = typeof country === 'string' ? country : undefined;
    return this.#suppressed?.hasIn(type, cell, known) === true;
  }

  addressOf(
    chunk: RowChunk,
    row: number,
    column: number,
  ): { readonly line: string; readonly key: string } | undefined {
    const { type = 'email', position = 0 } = this.#columns[column] ?? {};
    const country = this.#countries.of(chunk, row);
    const group = type === 'email' ? (this.#ofEmails ?? country) : country;
    const address = addressOf(type, chunk.text(row, position), group);
    return 'line' in address ? address : undefined;
  }

  /** Reads a plain email directly from its bytes; returns whether the cell is one. */
  #readPlainEmail(
    raw: RawCells,
    row: number,
    index: number,
    country: CountryCode,
    place: number,
  ): boolean {
    const { bytes } = raw;
    const { position } = this.#columns[index] as VerifiedColumn;
    const start = raw.cellStart(row, position);
    const end = raw.cellEnd(row, position);
    if (!looksLikeEmail(bytes, start, end)) return false;
    const key = this.#table.room(plainKeyBytes);
    if (!writePlainKey(bytes, start, end, key)) return false;
    addCell(this.#profileOf(index), true);
    if (this.#suppressed?.hasEmailBytes(key, 0, end - start) === true) {
      this.#setReason(place, 'suppressed');
      return true;
    }
    const group = this.#group(index, country);
    this.#groupOf[place] = group;
    this.#lines[place] = undefined;
    this.#starts[place] = start;
    this.#ends[place] = end;
    this.#table.hashRoomInto(this.hashes, place, group.number, end - start);
    return true;
  }

  /** Reads a plain phone with a sure meaning directly from its bytes; returns whether the cell is one. */
  #readPlainPhone(
    chunk: RowChunk,
    raw: RawCells,
    row: number,
    index: number,
    country: CountryCode,
    place: number,
  ): boolean {
    // The callback needs the text.
    if (this.#onChanged) return false;
    const { position } = this.#columns[index] as VerifiedColumn;
    const { bytes } = raw;
    const cellStart = raw.cellStart(row, position);
    const cellEnd = raw.cellEnd(row, position);
    const count = readPlainDigits(bytes, cellStart, cellEnd);
    if (count === 0) return false;
    const plan = planOf(country);
    const family = plainFamily(count, plan);
    const numbers = this.#numbers;
    const start = place * plainNumberBytes;
    const length = family
      ? writePlainNumber(count, family, numbers, start)
      : numbers.write(sureNumber({ digits: plainText(count) }, country) ?? '', start, 'latin1');
    if (length === 0) return false;
    const number = (): string => numbers.toString('latin1', start, start + length);
    if (mayBeSideBySide(bytes, cellStart, cellEnd, count, family, number)) return false;
    const profile = this.#profileOf(index);
    addCell(profile, true);
    const kind =
      mayMissPlusSign(plainDigits, count) && missingPlusSignOf(plainText(count), country);
    if (kind) this.#addMissingPlusSign(index, kind, chunk, row);
    // Digits sent as written have their calling code.
    if (family && family === plan?.family) profile.callingCodes?.addDomestic(length === count);
    else profile.callingCodes?.addNumber(number(), hasCallingCode(plainText(count)));
    if (profile.countryFit?.isNextExamined() === true) {
      profile.countryFit.examine(chunk.text(row, position), country, () =>
        this.#countries.originOf(chunk, row),
      );
    }
    if (this.#suppressed?.hasPhone(number(), plainText(count), country) === true) {
      this.#setReason(place, 'suppressed');
      return true;
    }
    const group = this.#group(index, country);
    this.#groupOf[place] = group;
    this.#lines[place] = undefined;
    this.#starts[place] = start;
    this.#ends[place] = start + length;
    const room = this.#table.room(plainNumberBytes);
    for (let at = 0; at < length; at += 1) room[at] = numbers[start + at] as number;
    this.#table.hashRoomInto(this.hashes, place, group.number, length);
    return true;
  }

  #addList(index: number, list: readonly unknown[], country: CountryCode): void {
    const { type } = this.#columns[index] as VerifiedColumn;
    const profile = this.#profileOf(index);
    profile.lists += 1;
    if (profile.member !== undefined) return;
    const members = Object.entries(list.find(isJsonObject) ?? {});
    const address = members.find(
      ([, text]) =>
        typeof text === 'string' && looksLike(type, addressOf(type, text, country), country),
    );
    [profile.member] = address ?? members[0] ?? [];
  }

  #readCell(chunk: RowChunk, row: number, index: number, country: RowCountry, place: number): void {
    const { type, position } = this.#columns[index] as VerifiedColumn;
    const cell = chunk.text(row, position);
    const address = addressOf(type, cell, country);
    const isBeside = this.#isBesideSuppressed(type, chunk.parts?.(row, position), country);
    if (typeof country !== 'string' || ('reason' in address && address.reason === 'empty')) {
      this.#setUnsent(place, 'reason' in address ? address.reason : 'empty', {
        chunk,
        row,
        index,
        country,
        isBeside,
      });
      return;
    }
    const isAlike = looksLike(type, address, country);
    addCell(this.#profileOf(index), isAlike, !isAlike && looksLikeOther(type, cell));
    if (cell === invalidText) {
      const value = chunk.value?.(row, position);
      if (Array.isArray(value)) this.#addList(index, value, country);
      else if (typeof value !== 'object') this.#profileOf(index).noText += 1;
    }
    const kind = type === 'phone' ? missingPlusSign(cell, country) : undefined;
    if (kind) this.#addMissingPlusSign(index, kind, chunk, row);
    if ('reason' in address) {
      this.#setUnsent(place, address.reason, { chunk, row, index, country, isBeside });
      return;
    }
    const { callingCodes, countryFit } = this.#profileOf(index);
    callingCodes?.add(cell, address.line);
    if (countryFit?.isNextExamined() === true) {
      countryFit.examine(cell, country, () => this.#countries.originOf(chunk, row));
    }
    if (this.#isSuppressed(type, cell, address.key, country)) {
      this.#setReason(place, 'suppressed');
      return;
    }
    if (isBeside) {
      this.#setBesideSuppressed(place);
      return;
    }
    if (typeof cell === 'string' && cell !== address.line) {
      this.#onChanged?.(cell, address.line, index);
    }
    const group = this.#group(index, country);
    this.#groupOf[place] = group;
    this.#lines[place] = address.line;
    this.#table.hashInto(this.hashes, place, group.number, address.key);
  }

  /** Whoever has opted out is suppressed, whatever else is wrong with the cell. */
  #setUnsent(
    place: number,
    reason: NotSubmittedReason,
    {
      chunk,
      row,
      index,
      country,
      isBeside,
    }: {
      readonly chunk: RowChunk;
      readonly row: number;
      readonly index: number;
      readonly country: RowCountry;
      readonly isBeside: boolean;
    },
  ): void {
    if (isBeside) {
      this.#setBesideSuppressed(place);
      return;
    }
    const { type, position } = this.#columns[index] as VerifiedColumn;
    const cell = this.#suppressed && chunk.text(row, position);
    const text = cell === invalidText ? listText(chunk.value?.(row, position)) : cell;
    const isSuppressed = text !== undefined && this.#holdsSuppressed(type, text, country);
    this.#setReason(place, isSuppressed ? 'suppressed' : reason);
  }

  #setBesideSuppressed(place: number): void {
    this.besideSuppressed += 1;
    this.#setReason(place, 'suppressed');
  }

  #setReason(place: number, reason: NotSubmittedReason): void {
    if (reason === 'suppressed') this.hasSuppressed = true;
    this.#groupOf[place] = undefined;
    this.#lines[place] = reason;
  }

  #addMissingPlusSign(index: number, kind: 'fixed' | 'mobile', chunk: RowChunk, row: number): void {
    const { position } = this.#columns[index] as VerifiedColumn;
    const number = chunk.number?.(row) ?? this.#rowsBefore + row + 1;
    addMissingPlusSign(this.#profileOf(index), kind, {
      cell: chunk.text(row, position),
      row: number,
    });
  }

  #profileOf(column: number): ColumnProfile {
    return this.profiles[column] as ColumnProfile;
  }

  #group(column: number, country: CountryCode): NumberedGroup {
    const last = this.#lastGroups[column];
    if (last?.group.country === country) return last;
    const { type } = this.#columns[column] as VerifiedColumn;
    let group = this.#groups[type].get(country);
    if (group === undefined) {
      group = { group: { type, country }, number: groupNumber({ type, country }) };
      this.#groups[type].set(country, group);
    }
    this.#lastGroups[column] = group;
    return group;
  }
}

export function addressOf(
  type: VerificationType,
  cell: CellText,
  country: RowCountry,
): AddressLine {
  if (cell === undefined || cell === '') return { reason: 'empty' };
  if (typeof country === 'string') {
    return type === 'email' ? emailLine(cell) : phoneLine(cell, country);
  }
  return { reason: isBlank(cell) ? 'empty' : country.reason };
}
