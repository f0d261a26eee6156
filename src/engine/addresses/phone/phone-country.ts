import { isCountryCode, type CountryCode } from '../../../contract/countries.js';
import type { CellText } from '../../../lists/rows/chunks/row-chunk.js';
import { familyOf } from './numbering-plan.js';
import { barePhone } from './phone-cell.js';
import { phoneDigits, type PhoneDigits } from './phone-digits.js';
import { sureNumber } from './phone-readings.js';
import { trimCell } from '../trim-cell.js';

/** Longer cells hold no number: libphonenumber takes none that is longer either. */
const maxCellUnits = 250;

/**
 * The country whose calling code a phone cell begins with, after `+` or `00`. Where countries share the
 * code, a valid number has the country that libphonenumber finds for it; any other, and one of a country
 * that the service does not take, has the main country of the code.
 *
 * @returns `undefined` for a number without a calling code, and for one of no country (`+800`)
 */
export function phoneCountry(
  cell: CellText,
): CountryCode | { readonly reason: 'country_unsupported' } | undefined {
  const digits = internationalDigits(cell);
  const family = digits && familyOf(digits.digits.slice(1));
  if (!family) return undefined;
  const { main, own } = family.countriesOf(nationalOf(digits, family.callingCode));
  if (main === undefined) return undefined;
  if (!isCountryCode(main)) return { reason: 'country_unsupported' };
  return own !== undefined && isCountryCode(own) ? own : main;
}

/** Digits with a `+` in front; `00` means one where a possible number follows it. */
function internationalDigits(cell: CellText): PhoneDigits | undefined {
  if (typeof cell !== 'string' || cell.length > maxCellUnits) return undefined;
  const found = phoneDigits(barePhone(trimCell(cell)));
  if (!found || found.digits.startsWith('+')) return found;
  if (!found.digits.startsWith('00')) return undefined;
  const { digits, zeroAt } = found;
  const written = `+${digits.slice(2)}`;
  const plus = { digits: written, ...(zeroAt !== undefined && { zeroAt: zeroAt - 1 }) };
  return sureNumber(plus, anyCountry) === undefined ? undefined : plus;
}

/** What begins with a calling code means the same in every country. */
const anyCountry: CountryCode = 'US';

function nationalOf(digits: PhoneDigits, callingCode: string): string | undefined {
  return sureNumber(digits, anyCountry)?.slice(1 + callingCode.length);
}
