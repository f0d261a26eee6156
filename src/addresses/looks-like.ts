import type { CountryCode } from '../contract/countries.js';
import type { VerificationType } from '../contract/enums.js';
import type { AddressLine } from './address-line.js';
import { phoneDigits } from './phone-digits.js';
import { possibleNumbers } from './phone-readings.js';

/** Shorter runs of digits among letters are no phone number. */
const fewestDigits = 5;
/** What is longer, behind a `+`, was written as a number. */
const mostNational = 7;
const at = 0x40;

/**
 * Whether a cell looks like what it is verified as, at a glance: an email has an `@` between two other
 * characters; a phone is a possible number, or text with more digits than letters (`ext. 12`).
 *
 * @param address what the cell has come to
 */
export function looksLike(
  type: VerificationType,
  address: AddressLine,
  country: CountryCode,
): boolean {
  if ('reason' in address) return false;
  const { line, key } = address;
  if (type === 'email') return /[^@]@[^@]/.test(line);
  if (key.startsWith('+')) return true;
  const digits = phoneDigits(line);
  if (digits !== undefined) {
    // Of a calling code that is not known: numbers to test with are such.
    const isForeign = digits.digits.startsWith('+') && digits.digits.length > mostNational;
    return isForeign || possibleNumbers(digits, country).length > 0;
  }
  const digitCount = line.match(/\d/g)?.length ?? 0;
  return digitCount >= fewestDigits && digitCount > (line.match(/\p{L}/gu)?.length ?? 0);
}

/** The same for the bytes of a plain email. */
export function looksLikeEmail(bytes: Uint8Array, start: number, end: number): boolean {
  for (let place = start + 1; place < end - 1; place += 1) if (bytes[place] === at) return true;
  return false;
}
