import { type CountryCode, isCountryCode } from '../../../contract/countries.js';
import type { CellText } from '../../../lists/rows/chunks/row-chunk.js';
import { trimCell } from '../address.js';
import { familyAt, familyOf, type NumberingPlan, planOf } from './numbering-plan.js';
import { isOneNumber, possibleNumbers, sureNumber } from './phone-readings.js';
import { barePhone, phoneDigits, type PhoneDigits } from './phone-digits.js';

/** Longer cells hold no number: libphonenumber accepts none either. */
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
  const { main, exact } = family.countriesOf(nationalOf(digits, family.callingCode));
  if (main === undefined) return undefined;
  if (!isCountryCode(main)) return { reason: 'country_unsupported' };
  return exact !== undefined && isCountryCode(exact) ? exact : main;
}

/** Whether a plus sign or two zeros precede all other digits of a cell. */
export function hasCallingCode(cell: string): boolean {
  let at = 0;
  for (; at < cell.length && !isDigit(cell.charCodeAt(at)); at += 1) {
    if (cell[at] === '+' || cell[at] === '＋') return true;
  }
  return cell.startsWith('00', at);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Digits with a leading `+`; `00` counts as one where a possible number follows. */
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

/** Digits with a calling code mean the same in every country. */
export const anyCountry: CountryCode = 'US';

function nationalOf(digits: PhoneDigits, callingCode: string): string | undefined {
  return sureNumber(digits, anyCountry)?.slice(1 + callingCode.length);
}

/** `(415) 555-0100`, `415-555-0100` */
const northAmerican = /^(?:\([2-9]\d\d\) ?|[2-9]\d\d[-.])[2-9]\d\d[-.]\d{4}$/;

/** Written as a number of North America where numbers vary in length: there, any ten digits may be valid. */
function looksForeign(cell: string, plan: NumberingPlan | undefined): boolean {
  return plan?.hasVariedLengths === true && northAmerican.test(trimCell(cell));
}

/** Whether a phone cell is written as a number of North America, and its row's country is not of that plan. */
export function isAmericanAbroad(cell: string, country: CountryCode): boolean {
  return planOf(country)?.family.callingCode !== '1' && northAmerican.test(trimCell(cell));
}

/** Whether a phone cell, read in a country, is a valid fixed or mobile number of that country, and looks like it. */
export function fitsCountry(cell: string, country: CountryCode): boolean {
  if (looksForeign(cell, planOf(country))) return false;
  const digits = phoneDigits(barePhone(trimCell(cell)));
  const number = digits && sureNumber(digits, country);
  return number !== undefined && isFixedOrMobile(number) && phoneCountry(number) === country;
}

/**
 * Whether one reading of a phone cell is a valid number with the calling code of a country, and it is not
 * written as a number of North America where numbers vary in length: there, any ten digits may be valid.
 *
 * @returns `undefined` where it is not made of digits and separators, or the country's numbers are not known
 */
export function mayBeOf(country: CountryCode, cell: string): boolean | undefined {
  const digits = phoneDigits(barePhone(trimCell(cell)));
  const plan = planOf(country);
  const family = plan?.family;
  if (!digits || !family) return undefined;
  if (looksForeign(cell, plan)) return false;
  return possibleNumbers(digits, country).some(
    (number) => isOneNumber(number) && familyOf(number.slice(1)) === family,
  );
}

export function isFixedOrMobile(line: string): boolean {
  const digits = line.slice(1);
  const family = line.startsWith('+') ? familyOf(digits) : undefined;
  return family?.isFixedOrMobile(digits.slice(family.callingCode.length)) === true;
}

const plus = 0x2b;
const zero = 0x30;
/** Numbers with a calling code rarely have fewer digits; national ones often do. */
const fewestDigits = 10;
const mostDigits = 15;
const longestCell = 64;

/**
 * Whether a phone cell may begin with a calling code that has lost its `+` (`447700900123`), though it is
 * not surely read so. It is so where the digits are a valid fixed or mobile number of that calling code,
 * and no mobile number of the row's own country without it. It may as well have lost a 0: `15123000001` is a
 * mobile number of Germany or one of Texas.
 *
 * @returns what kind of number it may be; of a fixed one that may be chance
 */
export function missingPlusSign(
  cell: CellText,
  country: CountryCode,
): 'fixed' | 'mobile' | undefined {
  if (typeof cell !== 'string' || cell.length > longestCell || !mayLackPlus(cell)) return undefined;
  const found = phoneDigits(barePhone(trimCell(cell)));
  return found && found.zeroAt === undefined ? missingPlusSignOf(found.digits, country) : undefined;
}

/** The same for the digits of a cell that has no zero in brackets. */
export function missingPlusSignOf(
  digits: string,
  country: CountryCode,
): 'fixed' | 'mobile' | undefined {
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

/** Whether {@link missingPlusSignOf} may find a type for digits in bytes. */
export function mayMissPlusSign(digits: Uint8Array, count: number): boolean {
  if (digits[0] === plus || digits[0] === zero) return false;
  if (count < fewestDigits || count > mostDigits) return false;
  const family = familyAt(digits, 0, count);
  return family?.mayHave(count - family.callingCode.length) === true;
}

function mayLackPlus(text: string): boolean {
  return !text.startsWith('+') && !text.startsWith('0');
}
