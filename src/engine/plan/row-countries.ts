import { findCountry } from '../addresses/country/parse-country.js';
import { phoneCountry } from '../addresses/phone/phone-country.js';
import { trimCell } from '../addresses/address.js';
import type { CountryCode } from '../../contract/countries.js';
import type { CellText, RowChunk } from '../../lists/rows/chunks/row-chunk.js';

/** Where a row's target country comes from: its own cell, else its number, else the fallback. */
export interface CountryRule {
  /** Country of the rows that have none of their own, or of all. */
  readonly fallback: CountryCode | undefined;
  /** Position of the column that holds a country row by row. */
  readonly position: number | undefined;
  /** Position of the phone column whose calling codes say the country of rows whose own cell is empty. */
  readonly phonePosition?: number | undefined;
  /** Country of all emails, whatever that of their row is. */
  readonly ofEmails?: CountryCode | undefined;
}

/** The target country of a row, or why it has none. */
export type RowCountry =
  | CountryCode
  | { readonly reason: 'country_missing' | 'country_unsupported' };

/** The column whose calling codes say the country, in the rows where they are to. */
export interface CallingCodeCounts {
  /** Cells that hold something. */
  filled: number;
  /** Those of them that begin with a calling code. */
  found: number;
}

/** Distinct country cells that are remembered; junk in a country column must not fill the memory. */
const maxKnownCountries = 4096;

export class RowCountries {
  readonly #rule: CountryRule;
  readonly #known = new Map<CellText, RowCountry | undefined>();

  constructor(rule: CountryRule) {
    this.#rule = rule;
  }

  /** The country of all rows, where they have one. */
  get only(): CountryCode | undefined {
    const { position, phonePosition, fallback } = this.#rule;
    return position === undefined && phonePosition === undefined ? fallback : undefined;
  }

  /** @param counts what is to count the calling codes. @default nothing */
  of(chunk: RowChunk, row: number, counts?: CallingCodeCounts): RowCountry {
    const { position, phonePosition, fallback } = this.#rule;
    const named = position === undefined ? undefined : this.#named(chunk.text(row, position));
    if (named !== undefined) return named;
    const byNumber =
      phonePosition === undefined
        ? undefined
        : callingCodeOf(chunk.text(row, phonePosition), counts);
    return byNumber ?? fallback ?? { reason: 'country_missing' };
  }

  #named(cell: CellText): RowCountry | undefined {
    if (this.#known.has(cell)) return this.#known.get(cell);
    const country = parseCountryCell(cell);
    if (this.#known.size < maxKnownCountries) this.#known.set(cell, country);
    return country;
  }
}

/** The country that a cell names, by code or name, in any case; `undefined` where it is empty. */
export function parseCountryCell(cell: CellText): RowCountry | undefined {
  if (isBlank(cell)) return undefined;
  const country = typeof cell === 'string' ? findCountry(trimCell(cell)) : undefined;
  return country ?? { reason: 'country_unsupported' };
}

/** @param counts what is to count the calling codes. @default nothing */
function callingCodeOf(
  number: CellText,
  counts: CallingCodeCounts | undefined,
): ReturnType<typeof phoneCountry> {
  const country = phoneCountry(number);
  if (counts && country !== undefined) counts.found += 1;
  if (counts && !isBlank(number)) counts.filled += 1;
  return country;
}

export function isBlank(cell: CellText): boolean {
  return cell === undefined || (typeof cell === 'string' && trimCell(cell) === '');
}
