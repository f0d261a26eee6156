import type { CountryCode } from '../../../contract/countries.js';
import type { CellText } from '../../../lists/rows/chunks/row-chunk.js';
import { familyAt, familyOf, planOf } from './numbering-plan.js';
import { barePhone } from './phone-cell.js';
import { phoneDigits } from './phone-digits.js';
import { sureNumber } from './phone-readings.js';
import { trimCell } from '../trim-cell.js';

const plus = 0x2b;
const zero = 0x30;
/** Numbers with a calling code hardly ever have fewer digits; national ones often do. */
const fewestDigits = 10;
/** No number has more. */
const mostDigits = 15;
const longestCell = 64;

/**
 * Whether a phone cell may begin with a calling code that has lost its `+` (`447700900123`), though it is
 * not surely read so. It is so where the digits are a valid fixed or mobile number of that calling code,
 * and no mobile number of the row's own country without it.
 *
 * @returns what kind of number it may be; of a fixed one that may be chance
 */
export function lostPlus(cell: CellText, country: CountryCode): 'fixed' | 'mobile' | undefined {
  if (typeof cell !== 'string' || cell.length > longestCell || !mayLackPlus(cell)) return undefined;
  const found = phoneDigits(barePhone(trimCell(cell)));
  return found && found.zeroAt === undefined ? lostPlusOf(found.digits, country) : undefined;
}

/** The same for the digits of a cell that has no zero in brackets. */
export function lostPlusOf(digits: string, country: CountryCode): 'fixed' | 'mobile' | undefined {
  if (!mayLackPlus(digits)) return undefined;
  if (digits.length < fewestDigits || digits.length > mostDigits) return undefined;
  const family = familyOf(digits);
  const national = digits.slice(family?.callingCode.length);
  if (!family?.isFixedOrMobile(national)) return undefined;
  const number = sureNumber({ digits }, country);
  if (number === `+${digits}`) return undefined;
  const home = planOf(country)?.family;
  if (number !== undefined && home?.isMobile(number.slice(1 + home.callingCode.length)) === true) {
    return undefined;
  }
  return family.isMobile(national) ? 'mobile' : 'fixed';
}

/** Whether {@link lostPlusOf} may say something of digits that stand in bytes. */
export function mayHaveLostPlus(digits: Uint8Array, count: number): boolean {
  if (digits[0] === plus || digits[0] === zero) return false;
  if (count < fewestDigits || count > mostDigits) return false;
  const family = familyAt(digits, 0, count);
  return family?.mayHave(count - family.callingCode.length) === true;
}

function mayLackPlus(text: string): boolean {
  return !text.startsWith('+') && !text.startsWith('0');
}
