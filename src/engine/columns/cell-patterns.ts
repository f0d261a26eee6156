import type { CountryCode } from '../../contract/countries.js';
import { addressesIn, cellForm, looksLike } from '../addresses/cell-form.js';
import { findCountry, guessCountry } from '../addresses/country/parse-country.js';
import { emailLine } from '../addresses/email.js';
import { phoneCountry } from '../addresses/phone/phone-country.js';
import { barePhone, isScientific, phoneDigits } from '../addresses/phone/phone-digits.js';

/** Also with a name, or several in one cell: reported once the column is chosen. */
export function isEmail(cell: string): boolean {
  return (
    (!/\s/.test(cell) && looksLike('email', emailLine(cell), 'US')) ||
    ['mailto', 'named', 'several', 'unsplit'].includes(cellForm('email', cell) ?? '')
  );
}

/** Also where another way to write it is expected, as for `Germny`. */
export function meansCountry(cell: string): boolean {
  return findCountry(cell) !== undefined || guessCountry(cell) !== undefined;
}

/** Two letters of countries that mean a state of the US, or a language, as well. */
const states = /^(?:A[LRZ]|C[AO]|DE|GA|I[DLN]|KY|LA|M[ADENOST]|N[CE]|PA|S[CD]|TN|VA)$/i;
const languages =
  /^(?:ar|bg|de|e[st]|f[ir]|h[ru]|i[dt]|l[tv]|ms|n[lo]|p[lt]|r[ou]|s[klv]|t[hr]|vi)$/i;
const nearlyAll = 0.9;

/**
 * Whether cells are surely countries though their column is not named so. Few different codes may as well be
 * `SI` and `NO`, or `Mr` and `Ms`; names of countries are nothing else.
 *
 * @param isLikely whether the column's name is one that columns of countries have, too
 */
export function areSurelyCountries(cells: readonly string[], isLikely: boolean): boolean {
  const countries = cells.map((cell) => findCountry(cell));
  const known = cells.filter((_, at) => countries[at] !== undefined);
  if (known.length === 0 || known.length < cells.length * nearlyAll) return false;
  const names = known.filter((cell) => cell.length > 3);
  if (names.length >= cells.length * nearlyAll) return true;
  const different = new Set(countries.filter((country) => country !== undefined)).size;
  if (different < (isLikely ? 2 : 3)) return false;
  const isDoubtful = (cell: string) =>
    states.test(cell) || (!isLikely && (languages.test(cell) || cell !== cell.toUpperCase()));
  return names.length > 0 || !known.every(isDoubtful);
}

/** Also without a complete domain: reported once the column is chosen. */
export function mayBeEmail(cell: string): boolean {
  return isEmail(cell) || /^[^\s@]+@[^\s@]+$/.test(cell);
}

const fewestDigits = 6;
const mostDigits = 15;

const phoneWord = /^(?:tel|telefon|fon|phone|mobile?)(?:[.:]\s*|\s+)/i;

/** A possible phone number in a column named so, in whatever country. */
export function isPhone(cell: string): boolean {
  // A word before the number is reported once the column is chosen.
  const text = barePhone(cell).replace(phoneWord, '');
  if (isScientific(text) || addressesIn('phone', cell) !== undefined) return true;
  // An extension has letters.
  const number = phoneDigits(text) ?? phoneDigits(text.split(/[^\d\s().+/-]/, 1)[0] ?? '');
  const { length } = number?.digits.replace('+', '') ?? '';
  return length >= fewestDigits && length <= mostDigits && !isDate(text);
}

/** A cell that only a phone number is written like: with a calling code, or in groups. */
export function isSurelyPhone(cell: string): boolean {
  const several = addressesIn('phone', cell);
  if (several) return several.every(isSurelyPhone);
  if (!isPhone(cell)) return false;
  if (cell.startsWith('+')) return typeof phoneCountry(cell) === 'string';
  return (
    /^\d{3}[-. ]\d{3}[-. ]\d{4}$/.test(cell) ||
    /^(?:\(\d{2,5}\)|0\d{1,5}[ /-])[\d ()/-]{5,}$/.test(cell)
  );
}

export function isDate(text: string): boolean {
  return /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:$|[ T])/.test(text);
}

export function countryOfPhone(cell: string): CountryCode | undefined {
  // The first of several numbers.
  const country = phoneCountry(addressesIn('phone', cell)?.[0] ?? cell);
  return typeof country === 'string' ? country : undefined;
}
