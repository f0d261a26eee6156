import { isCountryCode, type CountryCode } from '../contract/countries.js';
import type { VerificationType } from '../contract/enums.js';
import type { CellText } from '../rows/row-chunk.js';
import { trimCell } from './trim-cell.js';

/** What a batch belongs to. */
export interface Lane {
  readonly type: VerificationType;
  readonly country: CountryCode;
}

/** A lane's name for people and files: `email-US`. */
export function laneName(lane: Lane): string {
  return `${lane.type}-${lane.country}`;
}

/**
 * The target country that a cell names, in any case.
 *
 * @param fallback country of an empty cell
 * @returns the country, or the reason why the row's cells cannot be lines
 */
export function parseCountryCell(
  cell: CellText,
  fallback: CountryCode | undefined,
): CountryCode | { readonly reason: 'country_missing' | 'country_unsupported' } {
  if (typeof cell === 'symbol') return { reason: 'country_unsupported' };
  const text = cell === undefined ? '' : trimCell(cell);
  if (text === '') return fallback ?? { reason: 'country_missing' };
  // ASCII only: upper case makes country codes of other letters too (the Turkish i without a dot).
  const code = /^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : text;
  return isCountryCode(code) ? code : { reason: 'country_unsupported' };
}
