import type { CountryCode } from '../../../contract/countries.js';
import { trimCell } from '../address.js';
import { familyOf, type NumberingPlan, planOf } from './numbering-plan.js';

const plus = 0x2b;
const zero = 0x30;
const nine = 0x39;

/** What a phone cell says where it is made of digits and separators. */
export interface PhoneDigits {
  /** ASCII digits, with a `+` in front where one is before them. */
  readonly digits: string;
  /** Where among them a zero is that is in brackets, behind other digits: `+49 (0) 30`. */
  readonly zeroAt?: number;
}

const zeroInBrackets = /[([（［]\s*[0０]\s*[)\]）］]/u;

/** What was found in a text, for the next to ask: each cell is asked about more than once. */
let last: { readonly text: string; readonly found: PhoneDigits | undefined } = {
  text: '',
  found: undefined,
};

/** `undefined` when a cell has no digits, or holds anything but them and separators. */
export function phoneDigits(text: string): PhoneDigits | undefined {
  if (text !== last.text) last = { text, found: findDigits(text) };
  return last.found;
}

function findDigits(text: string): PhoneDigits | undefined {
  const digits = digitsOf(text);
  if (digits === undefined || digits === '' || digits === '+') return undefined;
  if (isSeveral(digits, text)) return undefined;
  const match = hasBracket ? zeroInBrackets.exec(text) : undefined;
  const zeroAt = match ? (digitsOf(text.slice(0, match.index))?.length ?? 0) : 0;
  return zeroAt > 0 ? { digits, zeroAt } : { digits };
}

/** Whether a cell is made of the digits and separators of more than one number. */
export function isSeveralNumbers(text: string): boolean {
  const digits = digitsOf(text);
  if (digits !== undefined) return isSeveral(digits, text);
  const parts = text.split(/(?=[+＋])/);
  return (
    parts.length > 1 &&
    parts.every((part) => (digitsOf(part)?.replace('+', '').length ?? 0) >= digitsOfNumber)
  );
}

function isSeveral(digits: string, text: string): boolean {
  return digits.length >= fewestOfTwo && holdsSeveral(text);
}

/** Two numbers in one cell have so many digits. */
const fewestOfTwo = 9;
export const digitsOfNumber = 7;
/** More in front of a slash are a whole number, and fewer an area code (`0641/12345`) or the half of one. */
const mostInFront = 7;
/** A calling code in front of it that nothing keeps apart. */
const withCallingCode = 3;
/** Shorter parts that begin with a zero are pairs of digits, or the extension of an exchange (`- 0`). */
const leastBehind = { slash: 3, dash: 5 };

/** A calling code is next. */
const codeAhead = /^[^\d+]*(?:\+|00)/;

/**
 * Whether a cell of digits and separators holds more than one number (`030 12345 / 030 6789`), or another
 * ending of its number (`0641 1234 / 5678`). A second number shows by the slash after a first one, or by
 * its own area code.
 */
export function holdsSeveral(text: string): boolean {
  const inFront = codeAhead.exec(text)?.[0] ?? '';
  const behind = text.slice(inFront.length);
  const isApart = inFront !== '' && /^\d{1,3}(?=\D)/.test(behind);
  const domestic = (isApart ? behind.replace(/^\d+/, '') : text).replace(zeroInBrackets, '');
  const limit = codeAhead.test(domestic) ? mostInFront + withCallingCode : mostInFront;
  const [head = '', ...more] = domestic.split(/[/／]/);
  const first = digitsIn(head).replace(/^00/, '');
  if (more.length > 0 && first.length > limit) return true;
  if (more.filter((part) => digitsIn(part).length >= digitsOfNumber).length > 1) return true;
  const isNumber = first.length > 3 && groupsOf(head).length > 1;
  return (
    more.some((part, at) => beginsAnew(part, leastBehind.slash) && (isNumber || at > 1)) ||
    domestic.split(/\s[-–—]\s/u).some((part, at, parts) => {
      const before = digitsIn(parts.slice(0, at).join(''));
      return before.length >= digitsOfNumber && beginsAnew(part, leastBehind.dash);
    }) ||
    repeatsAreaCode(groupsOf(domestic))
  );
}

/** Two numbers in one cell that are kept apart by spaces alone have so many digits. */
export const fewestSideBySide = 12;
export const leastSideBySide = fewestSideBySide / 2;
/** A plus sign and the fifteen digits that E.164 allows. */
const longestNumber = 16;

/**
 * Whether a cell is valid numbers side by side (`0641 1234 0171 5678`), and one number only by the length that
 * the country's plan allows.
 *
 * @param joined the number that all its digits would be
 */
export function areSideBySide(
  text: string,
  joined: string | undefined,
  country: CountryCode,
): boolean {
  const isTooLong = joined !== undefined && joined.length > longestNumber;
  const isOne = joined !== undefined && isOneNumber(joined);
  const least = isOne ? digitsOfNumber : leastSideBySide;
  return Array.from(text.matchAll(/\s+/g)).some(({ index }) => {
    const first = digitsOf(text.slice(0, index)) ?? '';
    const rest = text.slice(index);
    const next = digitsOf(rest) ?? '';
    if (first.length < least || next.length < least) return false;
    if (isOne && !next.startsWith('0')) return false;
    const abroad = /^(?:\+|00)(.*)/.exec(first)?.[1];
    const plan = abroad === undefined ? undefined : familyOf(abroad)?.main;
    return (
      isValidCell(text.slice(0, index), country) &&
      ((isTooLong && next.startsWith('0')) ||
        isValidCell(rest, country, plan) ||
        (next.length >= fewestSideBySide && areSideBySide(rest, undefined, country)))
    );
  });
}

/** Whether a number in E.164 is a valid one, and no longer than any is. */
export function isOneNumber(number: string): boolean {
  return number.length <= longestNumber && isValid(number);
}

/** @param plan another one by which digits without a calling code may be read */
function isValidCell(text: string, country: CountryCode, plan?: NumberingPlan): boolean {
  const digits = findDigits(text);
  if (digits === undefined) return false;
  const others = plan ? national(digits.digits, plan).likely : none;
  return [...possibleNumbers(digits, country), ...others].some(isValid);
}

/** Whether a part of a cell begins with the zero of an area code. */
function beginsAnew(part: string, least: number): boolean {
  const digits = digitsIn(part);
  return digits.startsWith('0') && digits.length >= least;
}

/** Whether an area code is there twice, each time with a number after it. */
function repeatsAreaCode(groups: readonly string[]): boolean {
  const [area = ''] = groups;
  const again = groups.indexOf(area, 1);
  const length = (from: number, to?: number): number => groups.slice(from, to).join('').length;
  return (
    area.startsWith('0') &&
    area.length > 2 &&
    again > 0 &&
    length(0, again) >= digitsOfNumber &&
    length(again) >= digitsOfNumber
  );
}

function groupsOf(text: string): readonly string[] {
  return text.match(/\d+/g) ?? [];
}

function digitsIn(text: string): string {
  return groupsOf(text).join('');
}

/** Whether a bracket was among the separators of the text that was read last. */
let hasBracket = false;

/** The digits of a text in ASCII; `undefined` when it holds letters, extensions, symbols. */
function digitsOf(text: string): string | undefined {
  hasBracket = false;
  let digits = '';
  let from = 0;
  // Runs of ASCII digits are taken whole.
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= zero && code <= nine) continue;
    digits += text.slice(from, i);
    from = i + 1;
    if (code === plus || code === 0xff0b) {
      if (digits !== '') return undefined;
      digits = '+';
    } else {
      const value = digitValue(code);
      if (value !== undefined) digits += String(value);
      else if (isBracket(code)) hasBracket = true;
      else if (!isSeparator(code)) return undefined;
    }
  }
  return digits + text.slice(from);
}

/** Full-width, Arabic-Indic and Extended Arabic-Indic digits: those that libphonenumber knows. */
function digitValue(code: number): number | undefined {
  for (const first of [0xff10, 0x0660, 0x06f0]) {
    if (code >= first && code <= first + 9) return code - first;
  }
  return undefined;
}

/** What may be between the digits of a number and says nothing. */
function isSeparator(code: number): boolean {
  return isDash(code) || isSpace(code) || '/.／．'.includes(String.fromCharCode(code));
}

function isDash(code: number): boolean {
  return (
    code === 0x2d ||
    (code >= 0x2010 && code <= 0x2015) ||
    code === 0x2212 ||
    // The long vowel of Japanese, which is next to the digits on its keyboards.
    code === 0x30fc ||
    code === 0xfe58 ||
    code === 0xfe63 ||
    code === 0xff0d
  );
}

function isBracket(code: number): boolean {
  return '()[]（）［］'.includes(String.fromCharCode(code));
}

/**
 * Spaces of all widths, and what is not seen: soft hyphen, zero-width space, word joiner, and marks of
 * direction, which numbers copied from a phone's contacts have around them. Not the mark that has digits
 * shown from right to left (U+202E): what is meant is not sure there.
 */
function isSpace(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0xa0 ||
    code === 0xad ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202d) ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x2060 ||
    (code >= 0x2066 && code <= 0x2069) ||
    code === 0x3000 ||
    code === 0xfeff
  );
}

/** Two zeros only behind so many digits and no zero in front: `0800.00` may be written by hand. */
const fraction = /^(?:\+?\d+[.,]0|[1-9]\d{6,}[.,]00)$/;

/** Also the apostrophes that a word processor makes of the plain one. */
const keptText = /^(?:['‘’`´]+(.*)|="([^"]*)")$/su;

/**
 * A phone cell without what a spreadsheet or a data frame has put around its number: the apostrophe or the
 * formula (`="0301234567"`) that keeps a cell a text, and the fraction of a number (`412345678.0`,
 * `412345678,00`).
 *
 * @param trimmed without white space at its ends
 */
export function barePhone(trimmed: string): string {
  let text = trimmed;
  // All of them: what is sent must come to the same when it is read again.
  for (let kept = keptText.exec(text); kept; kept = keptText.exec(text)) {
    text = trimCell(kept[1] ?? kept[2] ?? '');
  }
  if (mayBeFraction(text) && fraction.test(text)) return text.slice(0, text.search(/[.,]/));
  return wholeExponent(text) ?? text;
}

/** The digits of a number in scientific notation that has all of them, as Java writes it: `4.91701234567E11`. */
function wholeExponent(text: string): string | undefined {
  if (!/[eE]/.test(text)) return undefined;
  const [, first = '', rest = '', exponent] =
    /^\+?([1-9])[.,](\d+)e\+?(\d{1,2})$/i.exec(text) ?? [];
  return rest.length === Number(exponent) ? first + rest : undefined;
}

/** Whether a comma or a point is in front of the last digit or the last two. */
function mayBeFraction(text: string): boolean {
  const { length } = text;
  return isPoint(text.charCodeAt(length - 2)) || isPoint(text.charCodeAt(length - 3));
}

function isPoint(code: number): boolean {
  return code === 0x2e || code === 0x2c;
}

/** Whether a cell is a number in scientific notation (`4.91702E+11`): its last digits are lost. */
export function isScientific(text: string): boolean {
  return /^[+-]?\d{1,3}(?:[.,]\d+)?e[+-]?\d{1,3}$/i.test(text);
}

/** What most countries dial in front of a calling code, and many people write in all of them. */
const plainPrefix = '00';

/** What North America dials in front of a calling code: it is in numbers that were copied there. */
const americanPrefix = '011';

const none: readonly string[] = [];

/** The numbers, in E.164, that the digits of a cell may stand for. */
interface Readings {
  readonly likely: readonly string[];
  /** These count only where they are valid numbers. */
  readonly ifValid: readonly string[];
}

/**
 * The number in E.164 that the digits of a cell surely mean; `undefined` where they may mean two, or
 * none. Of several readings the one is meant that is a valid number; where none is valid, the only one
 * that is possible.
 *
 * An E.164 form means itself: read again, it gives the same.
 *
 * @param country whose number it is when no calling code is in front; for one that
 *   libphonenumber-js does not know (`GS`, `UM`) only international forms are numbers
 */
export function sureNumber(digits: PhoneDigits, country: CountryCode): string | undefined {
  const { likely, ifValid } = readingsOf(digits, country);
  const only = likely[0];
  // Nearly all cells have one reading: whether it is valid need not be asked.
  if (likely.length < 2 && ifValid.length === 0) return only;
  const [first, second] = distinct([...likely, ...ifValid]).filter(isValid);
  if (first !== undefined) return second === undefined ? first : undefined;
  return distinct(likely).length === 1 ? only : undefined;
}

export function possibleNumbers(digits: PhoneDigits, country: CountryCode): readonly string[] {
  const { likely, ifValid } = readingsOf(digits, country);
  return distinct([...likely, ...ifValid.filter(isValid)]);
}

/**
 * Digits alone that may mean a number, and another one as well: they are sent as they are written, and a
 * service may read them as this one.
 */
export function doubtfulForms(number: string, country: CountryCode): readonly string[] {
  const digits = number.slice(1);
  const callingCode = planOf(country)?.family.callingCode;
  const forms = [plainPrefix + digits];
  if (callingCode !== undefined && digits.startsWith(callingCode)) {
    const nationalDigits = digits.slice(callingCode.length);
    forms.push(digits, nationalDigits, `0${nationalDigits}`);
  }
  return forms.filter((form) => {
    const numbers = possibleNumbers({ digits: form }, country);
    return (
      numbers.length > 1 &&
      numbers.includes(number) &&
      sureNumber({ digits: form }, country) === undefined
    );
  });
}

function readingsOf({ digits, zeroAt }: PhoneDigits, country: CountryCode): Readings {
  const plan = planOf(country);
  if (zeroAt !== undefined) {
    const code = callingCodeOf(digits.slice(0, zeroAt), plan);
    if (code !== undefined) {
      // +49 (0) 30: a zero that is dialled at home only. In Italy it is a part of the number.
      const rest = digits.slice(zeroAt + 1);
      return { likely: international(code + rest), ifValid: international(`${code}0${rest}`) };
    }
  }
  if (digits.startsWith('+')) return { likely: international(digits.slice(1)), ifValid: none };
  const prefix = plan?.internationalPrefixOf(digits);
  const isPlain = digits.startsWith(plainPrefix);
  const home = plan ? national(digits, plan) : { likely: [], ifValid: none };
  if (prefix === undefined && !isPlain) {
    if (!digits.startsWith(americanPrefix)) return home;
    const abroad = international(digits.slice(americanPrefix.length)).filter(isValid);
    return { likely: home.likely, ifValid: [...home.ifValid, ...abroad] };
  }
  const abroad = prefix === undefined ? [] : international(digits.slice(prefix.length));
  const atHome = [...home.likely, ...home.ifValid];
  if (!isPlain || prefix === plainPrefix) return { likely: abroad, ifValid: atHome };
  // Where 0011 or 001 is dialled, 00 and the first digits of a calling code may look like it.
  const plain = international(digits.slice(plainPrefix.length));
  return { likely: [], ifValid: [...plain, ...abroad, ...atHome] };
}

/** The calling code that a text is, but for what is dialled in front of it. */
function callingCodeOf(head: string, plan: NumberingPlan | undefined): string | undefined {
  const prefix = ['+', plainPrefix].find((each) => head.startsWith(each));
  const code = head.slice((prefix ?? plan?.internationalPrefixOf(head) ?? '').length);
  const isSure = code !== head || code === plan?.family.callingCode;
  return isSure && familyOf(code)?.callingCode === code ? code : undefined;
}

/** Reads digits that begin with a calling code. */
function international(digits: string): readonly string[] {
  const family = familyOf(digits);
  if (!family) return none;
  const { main, callingCode } = family;
  const nationalDigits = digits.slice(callingCode.length);
  const number = family.possible(main.withoutPrefix(nationalDigits), main, nationalDigits);
  return number === undefined ? none : [number];
}

/** Reads digits as a country's own: with or without its national prefix, or with its calling code. */
function national(digits: string, plan: NumberingPlan): Readings {
  const { family } = plan;
  const nationalDigits = plan.withoutPrefix(digits);
  const number = family.possible(nationalDigits, plan, digits);
  const likely = number === undefined ? [] : [number];
  if (digits.startsWith(family.callingCode)) {
    const [withCode] = international(digits);
    if (withCode !== undefined && withCode !== number) likely.push(withCode);
  }
  if (nationalDigits !== digits || !digits.startsWith('0')) return { likely, ifValid: none };
  // A zero that the plan does not take for a prefix, though numbers are written with one (Gabon).
  const shorter = digits.slice(1);
  const other = plan.matches(shorter) ? family.possible(shorter, plan) : undefined;
  return { likely, ifValid: other === undefined ? [] : [other] };
}

function isValid(e164: string): boolean {
  const digits = e164.slice(1);
  const family = familyOf(digits);
  return family?.isValid(digits.slice(family.callingCode.length)) === true;
}

function distinct(numbers: readonly string[]): readonly string[] {
  return numbers.length < 2 ? numbers : [...new Set(numbers)];
}
