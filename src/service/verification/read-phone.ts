import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { CountryCode } from '../../contract/countries.js';
import {
  isPlainNumber,
  readPlainNumber,
  type PhoneKind,
  type PlannedNumber,
} from './phone-plan.js';

/** Longest text that is looked at: E.164 has 15 digits, and people write separators between them. */
const maxLength = 64;
const plainForm = /^\+\d+$/;

/**
 * Reads a whole text as one phone number: international, or national of the given country. Texts with
 * letters are never numbers (`1-800-FLOWERS` and `1-800-CONTACTS` must not meet), nor is a number
 * with an extension.
 *
 * @returns `undefined` when it is no number of a possible length.
 */
export function readPhone(phone: string, country: CountryCode): PlannedNumber | undefined {
  if (phone.length > maxLength) return undefined;
  const plain = plainForm.test(phone) ? readPlainNumber(phone) : 'unsure';
  const number = plain === 'unsure' ? readWithLibrary(phone, country) : plain;
  if (number?.valid && isClosedRange(number)) return { ...number, valid: false, kind: undefined };
  return number;
}

/** The E.164 form of what {@link readPhone} reads: what is known of the number is not looked up. */
export function normalPhone(phone: string, country: CountryCode): string | undefined {
  if (phone.length > maxLength) return undefined;
  const isPlain = plainForm.test(phone) ? isPlainNumber(phone) : 'unsure';
  if (isPlain === 'unsure') return readWithLibrary(phone, country)?.e164;
  return isPlain ? phone : undefined;
}

/** The reference: everything that {@link readPlainNumber} leaves open or does not read. */
export function readWithLibrary(phone: string, country: CountryCode): PlannedNumber | undefined {
  if (/\p{L}/u.test(phone)) return undefined;
  const number = parsePhoneNumberFromString(phone, {
    extract: false,
    // A country without a plan of its own can still have numbers in international form.
    ...(isSupportedCountry(country) ? { defaultCountry: country } : {}),
  });
  if (number === undefined || number.ext !== undefined || !number.isPossible()) return undefined;
  const kind = number.getType()?.toLowerCase() as PhoneKind | undefined;
  return { e164: number.number, valid: number.isValid(), kind };
}

/**
 * Whether a number that the metadata takes for valid lies where the national plan has nothing open:
 *
 * - North America: N11 are service codes, never central office codes of geographic numbers (toll-free
 *   numbers do use them);
 * - South Africa: mobile numbers have nine digits; the metadata takes shorter ones.
 */
function isClosedRange({ e164, kind }: PlannedNumber): boolean {
  if (e164.startsWith('+1')) return kind === 'fixed_line_or_mobile' && e164.startsWith('11', 6);
  return e164.startsWith('+278') && kind === 'mobile' && e164.length !== '+27821234567'.length;
}
