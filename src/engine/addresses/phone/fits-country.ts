import type { CountryCode } from '../../../contract/countries.js';
import { familyOf } from './numbering-plan.js';
import { barePhone } from './phone-cell.js';
import { phoneCountry } from './phone-country.js';
import { phoneDigits } from './phone-digits.js';
import { sureNumber } from './phone-readings.js';
import { trimCell } from '../trim-cell.js';

/** Whether a phone cell, read in a country, is a valid fixed or mobile number of that country. */
export function fitsCountry(cell: string, country: CountryCode): boolean {
  const digits = phoneDigits(barePhone(trimCell(cell)));
  const number = digits && sureNumber(digits, country);
  return number !== undefined && isFixedOrMobile(number) && phoneCountry(number) === country;
}

/** Whether a line is a valid fixed or mobile number in its E.164 form. */
export function isFixedOrMobile(line: string): boolean {
  const digits = line.slice(1);
  const family = line.startsWith('+') ? familyOf(digits) : undefined;
  return family?.isFixedOrMobile(digits.slice(family.callingCode.length)) === true;
}
