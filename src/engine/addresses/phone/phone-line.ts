import type { CountryCode } from '../../../contract/countries.js';
import { type CellText, invalidText } from '../../../lists/rows/chunks/row-chunk.js';
import { type AddressLine, refuseLine, trimCell } from '../address.js';
import { familyAt, type NumberingPlan, type PlanFamily } from './numbering-plan.js';
import {
  areSideBySide,
  fewestSideBySide,
  isOneNumber,
  leastSideBySide,
  sureNumber,
} from './phone-readings.js';
import {
  barePhone,
  digitsOfNumber,
  isScientific,
  isSeveralNumbers,
  phoneDigits,
} from './phone-digits.js';

const maxPhoneCharacters = 64;
/** Longer cells are not searched: libphonenumber accepts none either. */
const maxNumberUnits = 250;
/** NFC combines at most four code points, of two units each, into one. */
const maxUnitsBeforeNfc = maxPhoneCharacters * 8;

/**
 * The line and the lookup key of a phone cell. One that surely means a number is sent in its E.164 form;
 * any other is sent as it is written, and is compared by its digits when it is made of digits and
 * separators, else by its text: `1-800-FLOWERS` and `1-800-CONTACTS` never meet.
 *
 * Keys of the three kinds never meet either: they begin with `+`, `d` and `t`.
 *
 * @param country whose number it is when no calling code is in front
 */
export function phoneLine(cell: CellText, country: CountryCode): AddressLine {
  if (cell === undefined) return { reason: 'empty' };
  if (cell === invalidText) return { reason: 'invalid_encoding' };
  const trimmed = trimCell(cell);
  if (trimmed.length > maxUnitsBeforeNfc) return { reason: 'too_long' };
  if (isoDate.test(trimmed)) return { reason: 'date' };
  const bare = trimmed.length > maxNumberUnits ? trimmed : barePhone(trimmed);
  const digits = bare.length > maxNumberUnits ? undefined : phoneDigits(bare);
  const number = digits && sureNumber(digits, country);
  const isPair =
    digits !== undefined &&
    digits.digits.length >= fewestSideBySide &&
    bare.length <= maxPhoneCharacters &&
    areSideBySide(bare, number, country);
  if (isPair) return { reason: 'several_numbers' };
  if (number !== undefined) return { line: number, key: number };

  const line = bare.normalize('NFC');
  if (digits === undefined && isScientific(line)) return { reason: 'scientific_notation' };
  const reason = refuseLine(line, maxPhoneCharacters);
  if (reason !== undefined) return { reason };
  if (digits === undefined && isSeveralNumbers(line)) return { reason: 'several_numbers' };
  return { line, key: digits === undefined ? `t${line}` : `d${digits.digits}` };
}

/** A date, or a moment, as cells of such a type are printed. */
const isoDate =
  /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[ T]\d\d:\d\d[\d:.+Z-]*)?$/;
const isoDateBytes = 10;

const plus = 0x2b;
const space = 0x20;
const hyphen = 0x2d;
const point = 0x2e;
const slash = 0x2f;
const zero = 0x30;
const one = 0x31;
const nine = 0x39;
const opening = 0x28;
const closing = 0x29;
/** Longer ones are left to the general path. */
const maxPhoneBytes = 64;
/** More digits before a slash may be a whole number, followed by another. */
const longestAreaCode = 3;

/** The digits of the latest plain cell. */
export const plainDigits = Buffer.alloc(maxPhoneBytes);

/**
 * Writes the digits of a phone cell, directly from its bytes, to {@link plainDigits}, with a leading `+`
 * where the cell has one. Nearly all cells are plain: ASCII digits with spaces, hyphens, points, slashes or
 * round brackets between them.
 *
 * @returns how many bytes they are; 0 where the cell is not plain, or may be a date, a number with a fraction, with a
 * zero in brackets, or several numbers that more than spaces keep apart; for any other, `phoneDigits` comes
 * to the same
 */
export function readPlainDigits(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > maxPhoneBytes || end - start < 2 || !isDigit(bytes[end - 1])) return 0;
  const isLikeDate = bytes[start + 4] === hyphen && bytes[start + 7] === hyphen;
  if (isLikeDate && end - start === isoDateBytes) return 0;
  let last = end - 1;
  while (bytes[last] === zero && last > start) last -= 1;
  if (bytes[last] === point) return 0;
  let count = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (isDigit(byte) || (byte === plus && count === 0)) {
      plainDigits[count] = byte;
      count += 1;
    } else if (byte === slash && count > longestAreaCode) {
      return 0;
    } else if (byte === hyphen && bytes[at - 1] === space) {
      return 0;
    } else if (byte === opening) {
      const next = bytes[at + 1];
      if (next === space || (next === zero && !isDigit(bytes[at + 2]))) return 0;
    } else if (!isSeparator(byte)) return 0;
  }
  // Fewest digits of numbers that begin with the same area code.
  const digits = plainDigits[0] === plus ? count - 1 : count;
  return digits >= 2 * digitsOfNumber && count < end - start ? 0 : count;
}

/**
 * Whether a plain cell, whose digits were just read, may be numbers side by side: `areSideBySide` says
 * so of no other.
 *
 * @param family by which all digits are surely one number, if any
 * @param number in E.164, as which the digits are read
 */
export function mayBeSideBySide(
  bytes: Uint8Array,
  start: number,
  end: number,
  count: number,
  family: PlanFamily | undefined,
  number: () => string,
): boolean {
  if (count < fewestSideBySide || count === end - start) return false;
  let before = 0;
  let smaller = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (isDigit(byte) || byte === plus) before += 1;
    else if (byte === space) {
      const fewer = Math.min(before, count - before);
      if (fewer >= leastSideBySide && mayEnd(before, family)) smaller = Math.max(smaller, fewer);
    }
  }
  if (smaller < leastSideBySide) return false;
  return smaller >= digitsOfNumber || !isOneNumber(number());
}

/** Whether the first of the digits that were just read may be a number, by how many they are. */
function mayEnd(count: number, family: PlanFamily | undefined): boolean {
  if (family === undefined || plainDigits[0] !== plus) return true;
  return family.mayHave(count - 1 - family.callingCode.length);
}

export function plainText(count: number): string {
  return plainDigits.toString('latin1', 0, count);
}

/**
 * The family to which a number belongs whose digits were just read, where these are surely one number of it,
 * and their beginning and their count decide: they have no prefix but a zero that is always one, and are as many
 * as all numbers of the family may have. Any others are for `sureNumber`, which comes to the same for these.
 *
 * @param plan by which digits without a calling code are read
 */
export function plainFamily(
  count: number,
  plan: NumberingPlan | undefined,
): PlanFamily | undefined {
  const digits = plainDigits;
  if (digits[0] === plus) {
    const family = familyAt(digits, 1, count);
    return family?.isPlain(digits, 1 + family.callingCode.length, count) ? family : undefined;
  }
  const from = prefixLength();
  // North America's international prefix occurs in numbers of all countries.
  if (from > 0 && digits[1] === one && digits[2] === one) return undefined;
  const isOfCountry =
    from > 0 ? plan?.isPlainBehindZero(digits, count) : plan?.isPlain(digits, count);
  return isOfCountry === true && plan?.family.isPlain(digits, from, count)
    ? plan.family
    : undefined;
}

export const plainNumberBytes = 24;

/** Writes the number in E.164 that digits of a family are, which were just read. @returns how many bytes */
export function writePlainNumber(
  count: number,
  { callingCode }: PlanFamily,
  into: Uint8Array,
  at: number,
): number {
  const digits = plainDigits;
  let end = at;
  if (digits[0] !== plus) {
    into[end] = plus;
    end += 1;
    for (let place = 0; place < callingCode.length; place += 1, end += 1) {
      into[end] = callingCode.charCodeAt(place);
    }
  }
  for (let place = prefixLength(); place < count; place += 1, end += 1) {
    into[end] = digits[place] as number;
  }
  return end - at;
}

/** A zero before a plain number is dialled only within its country. */
function prefixLength(): number {
  return plainDigits[0] === zero ? 1 : 0;
}

function isDigit(byte = 0): boolean {
  return byte >= zero && byte <= nine;
}

function isSeparator(byte: number): boolean {
  return byte === space || byte === hyphen || byte === point || byte === slash || byte === closing;
}
