import { trimCell } from '../address.js';

const plus = 0x2b;
const zero = 0x30;
const nine = 0x39;

export interface PhoneDigits {
  /** ASCII digits, with a leading `+` where the cell has one. */
  readonly digits: string;
  /** Position of a bracketed zero behind other digits: `+49 (0) 30`. */
  readonly zeroAt?: number;
}

const zeroInBrackets = /[([（［]\s*[0０]\s*[)\]）］]/u;

/** The latest result: each cell is examined more than once. */
let last: { readonly text: string; readonly found: PhoneDigits | undefined } = {
  text: '',
  found: undefined,
};

/** `undefined` when a cell has no digits, or holds anything but them and separators. */
export function phoneDigits(text: string): PhoneDigits | undefined {
  if (text !== last.text) last = { text, found: findDigits(text) };
  return last.found;
}

export function findDigits(text: string): PhoneDigits | undefined {
  const digits = digitsOf(text);
  if (digits === undefined || digits === '' || digits === '+') return undefined;
  if (isSeveral(digits, text)) return undefined;
  const match = hasBracket ? zeroInBrackets.exec(text) : undefined;
  const zeroAt = match ? (digitsOf(text.slice(0, match.index))?.length ?? 0) : 0;
  return zeroAt > 0 ? { digits, zeroAt } : { digits };
}

export function isSeveralNumbers(text: string): boolean {
  const digits = digitsOf(text);
  if (digits !== undefined) return isSeveral(digits, text);
  const parts = text.split(/(?=[+＋])/);
  return (
    parts.length > 1 &&
    parts.every((part) => (digitsOf(part)?.replace('+', '').length ?? 0) >= digitsOfNumber)
  );
}

/** What no number contains, and what is between two. */
const aroundNumbers = [/[^\p{Nd}\s()[\]（）［］.／/\p{Pd}+＋]/u, /\s[/／]\s/, /(?=[+＋])/];
/** Shorter digits beside a number are a time, an extension, a floor. */
const fewestBesideText = 6;

/** The numbers in a cell that is not made of one number alone, whatever is around them. */
export function numbersIn(text: string): readonly string[] {
  let parts = [text];
  for (const around of aroundNumbers) parts = parts.flatMap((part) => part.split(around));
  return parts
    .flatMap((part) => (findDigits(part) === undefined ? part.split(/[/／]|\s\p{Pd}\s/u) : [part]))
    .filter((part) => (findDigits(part)?.digits.length ?? 0) >= fewestBesideText)
    .map(trimCell);
}

function isSeveral(digits: string, text: string): boolean {
  return digits.length >= fewestOfTwo && holdsSeveral(text);
}

const fewestOfTwo = 9;
export const digitsOfNumber = 7;
/** More digits before a slash are a whole number; fewer are an area code (`0641/12345`) or half of one. */
const mostInFront = 7;
/** A calling code directly in front of it. */
const withCallingCode = 3;
/** Shorter parts that begin with a zero are pairs of digits, or the extension of an exchange (`- 0`). */
const leastAfter = { slash: 3, dash: 5 };

/** A calling code is next. */
const codeAhead = /^[^\d+]*(?:\+|00)/;

/**
 * Whether a cell of digits and separators holds more than one number (`030 12345 / 030 6789`), or another
 * ending of one (`0641 1234 / 5678`). A second number shows by the slash after a first, or by its own area
 * code.
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
    more.some((part, at) => beginsNumber(part, leastAfter.slash) && (isNumber || at > 1)) ||
    domestic.split(/\s[-–—]\s/u).some((part, at, parts) => {
      const before = digitsIn(parts.slice(0, at).join(''));
      return before.length >= digitsOfNumber && beginsNumber(part, leastAfter.dash);
    }) ||
    repeatsAreaCode(groupsOf(domestic))
  );
}

function beginsNumber(part: string, least: number): boolean {
  const digits = digitsIn(part);
  return digits.startsWith('0') && digits.length >= least;
}

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

/** Whether the separators of the latest text contained a bracket. */
let hasBracket = false;

/** The digits of a text in ASCII; `undefined` when it holds letters, extensions, symbols. */
export function digitsOf(text: string): string | undefined {
  hasBracket = false;
  let digits = '';
  let from = 0;
  // Runs of ASCII digits are copied at once.
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

/** Full-width, Arabic-Indic and Extended Arabic-Indic digits, which libphonenumber knows. */
function digitValue(code: number): number | undefined {
  for (const first of [0xff10, 0x0660, 0x06f0]) {
    if (code >= first && code <= first + 9) return code - first;
  }
  return undefined;
}

function isSeparator(code: number): boolean {
  return isDash(code) || isSpace(code) || '/.／．'.includes(String.fromCharCode(code));
}

function isDash(code: number): boolean {
  return (
    code === 0x2d ||
    (code >= 0x2010 && code <= 0x2015) ||
    code === 0x2212 ||
    // The Japanese long vowel mark, beside the digits on Japanese keyboards.
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
 * Spaces of all widths, and invisible characters: soft hyphen, zero-width space, word joiner, and the marks
 * of direction around numbers copied from a phone's contacts. Not the right-to-left override (U+202E), whose
 * meaning is uncertain.
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

/** Several zeros only behind so many digits and no zero in front: `0800.00` may be written by hand. */
const fraction = /^(?:\+?\d+[.,]0|\+?[1-9]\d{6,}[.,]0+)$/;

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
  // Repeatedly: what is sent must read the same again.
  for (let kept = keptText.exec(text); kept; kept = keptText.exec(text)) {
    text = trimCell(kept[1] ?? kept[2] ?? '');
  }
  if (mayBeFraction(text) && fraction.test(text)) return text.slice(0, text.search(/[.,]/));
  return wholeExponent(text) ?? text;
}

/** The digits of a number in scientific notation that is complete, as Java writes it: `4.91701234567E11`. */
function wholeExponent(text: string): string | undefined {
  if (!/[eE]/.test(text)) return undefined;
  const [, first = '', rest = '', exponent] =
    /^(\+?[1-9])[.,](\d+)e\+?(\d{1,2})$/i.exec(text) ?? [];
  return rest.length === Number(exponent) ? first + rest : undefined;
}

/** Whether only zeros follow a comma or a point. */
function mayBeFraction(text: string): boolean {
  let at = text.length - 1;
  while (text.charCodeAt(at) === zero) at -= 1;
  return at < text.length - 1 && isPoint(text.charCodeAt(at));
}

function isPoint(code: number): boolean {
  return code === 0x2e || code === 0x2c;
}

/** Whether a cell is a number in scientific notation (`4.91702E+11`): its last digits are lost. */
export function isScientific(text: string): boolean {
  return /^[+-]?\d{1,3}(?:[.,]\d+)?e[+-]?\d{1,3}$/i.test(text);
}
