import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import { findCountry } from './country/parse-country.js';
import { trimCell } from './address.js';

/** What a batch belongs to. */
export interface BatchGroup {
  readonly type: VerificationType;
  readonly country: CountryCode;
}

/**
 * A group's number in the hashes of its addresses. It is the same in every run and every version: a
 * history finds its addresses by it.
 */
export function groupNumber({ type, country }: BatchGroup): number {
  const letters = (country.charCodeAt(0) << 8) | country.charCodeAt(1);
  return type === 'email' ? letters : letters | 0x1_0000;
}

/** A group's name for people and files: `email-US`. */
export function groupName(group: BatchGroup): string {
  return `${group.type}-${group.country}`;
}

/**
 * The target country that a cell names, by code or name, in any case.
 *
 * @returns the country, or the reason why the row's cells cannot be lines; `undefined` where it is empty
 */
export function parseCountryCell(
  cell: CellText,
): CountryCode | { readonly reason: 'country_unsupported' } | undefined {
  if (typeof cell === 'symbol') return { reason: 'country_unsupported' };
  const text = cell === undefined ? '' : trimCell(cell);
  return text === '' ? undefined : (findCountry(text) ?? { reason: 'country_unsupported' });
}
