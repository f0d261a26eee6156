import { findCountryInColumn } from '../addresses/country/parse-country.js';
import { phoneCountry } from '../addresses/phone/phone-country.js';
import { trimCell } from '../addresses/address.js';
import type { CountryCode } from '../../contract/countries.js';
import type { CountryOrigin } from '../columns/country-fit.js';
import type { CellText, RawCells, RowChunk } from '../../lists/rows/chunks/row-chunk.js';

/** The source of a row's target country: its own cell, else its number, else the fallback. */
export interface CountryRule {
  readonly fallback: CountryCode | undefined;
  readonly position: number | undefined;
  /** Position of the phone column whose calling codes give the country of rows with an empty cell. */
  readonly phonePosition?: number | undefined;
  readonly ofEmails?: CountryCode | undefined;
}

/** The target country of a row, or why it has none. */
export type RowCountry =
  | CountryCode
  | { readonly reason: 'country_missing' | 'country_unsupported' };

/** The cells of a column that gives countries: its own, or the calling codes in the rows that need one. */
export interface CountryCounts {
  /** Cells that are not empty. */
  filled: number;
  /** Those that are a country, or begin with a calling code. */
  found: number;
}

export interface RowCountryCounts {
  readonly cells: CountryCounts;
  readonly codes: CountryCounts;
  /** By letter: country cells that consist of one, as codes on cars do. */
  readonly letters: Map<string, number>;
}

/** Most remembered country cells: junk in a country column must not fill the memory. */
const maxKnownCountries = 4096;

export class RowCountries {
  readonly #rule: CountryRule;
  readonly #known = new Map<CellText, RowCountry | undefined>();
  /** By two letters: making a text of each row's cell would cost as much as reading its number. */
  readonly #byLetters = new Map<number, RowCountry | undefined>();

  constructor(rule: CountryRule) {
    this.#rule = rule;
  }

  get only(): CountryCode | undefined {
    const { position, phonePosition, fallback } = this.#rule;
    return position === undefined && phonePosition === undefined ? fallback : undefined;
  }

  /** @param counts counts the cells of both columns */
  of(chunk: RowChunk, row: number, counts?: RowCountryCounts): RowCountry {
    const { position, phonePosition, fallback } = this.#rule;
    const named =
      position === undefined ? undefined : this.#named(chunk, row, position, counts?.letters);
    if (named !== undefined) {
      if (counts) {
        counts.cells.filled += 1;
        if (typeof named === 'string') counts.cells.found += 1;
      }
      return named;
    }
    const byNumber =
      phonePosition === undefined
        ? undefined
        : callingCodeOf(chunk.text(row, phonePosition), counts?.codes);
    return byNumber ?? fallback ?? { reason: 'country_missing' };
  }

  /** What gives a row with a country its country. */
  originOf(chunk: RowChunk, row: number): CountryOrigin {
    const { position, phonePosition } = this.#rule;
    if (position !== undefined && !isBlank(chunk.text(row, position))) return 'country_column';
    const isByNumber =
      phonePosition !== undefined && phoneCountry(chunk.text(row, phonePosition)) !== undefined;
    return isByNumber ? 'country_from' : 'country';
  }

  #named(
    chunk: RowChunk,
    row: number,
    position: number,
    counts: Map<string, number> | undefined,
  ): RowCountry | undefined {
    const letters = chunk.raw && twoLettersIn(chunk.raw, row, position);
    if (letters === undefined) {
      const cell = chunk.text(row, position);
      if (counts && typeof cell === 'string') countLetter(cell, counts);
      return this.#namedBy(cell);
    }
    const known = this.#byLetters.get(letters);
    if (known !== undefined) return known;
    const country = this.#namedBy(chunk.text(row, position));
    this.#byLetters.set(letters, country);
    return country;
  }

  #namedBy(cell: CellText): RowCountry | undefined {
    if (this.#known.has(cell)) return this.#known.get(cell);
    const country = parseCountryCell(cell);
    if (this.#known.size < maxKnownCountries) this.#known.set(cell, country);
    return country;
  }
}

/** The bytes of a cell of two ASCII letters as one number; `undefined` for any other cell. */
function twoLettersIn(raw: RawCells, row: number, column: number): number | undefined {
  const start = raw.cellStart(row, column);
  if (raw.cellEnd(row, column) - start !== 2) return undefined;
  const first = raw.bytes[start] ?? 0;
  const second = raw.bytes[start + 1] ?? 0;
  return isLetter(first) && isLetter(second) ? (first << 8) | second : undefined;
}

function isLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** The country that a cell names, by code (`DE`, `D`) or name, in any case; `undefined` where it is empty. */
export function parseCountryCell(cell: CellText): RowCountry | undefined {
  if (isBlank(cell)) return undefined;
  const country = typeof cell === 'string' ? findCountryInColumn(trimCell(cell)) : undefined;
  return country ?? { reason: 'country_unsupported' };
}

function countLetter(cell: string, counts: Map<string, number>): void {
  const letter = trimCell(cell).toUpperCase();
  if (/^[A-Z]$/.test(letter)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
}

/** @param counts counts the calling codes */
function callingCodeOf(
  number: CellText,
  counts: CountryCounts | undefined,
): ReturnType<typeof phoneCountry> {
  const country = phoneCountry(number);
  if (counts && country !== undefined) counts.found += 1;
  if (counts && !isBlank(number)) counts.filled += 1;
  return country;
}

export function isBlank(cell: CellText): boolean {
  return cell === undefined || (typeof cell === 'string' && trimCell(cell) === '');
}
