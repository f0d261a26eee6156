import { parseCivil } from '../rows/values/civil-time.js';
import { JsonText, integerForm, type Kind } from '../rows/values/kinds.js';

/** The meaning of a number in a cell, by its format. */
export type NumberMeaning = 'number' | 'date' | 'time' | 'timestamp';

const builtIn = new Map<number, string>([
  [14, 'yyyy-mm-dd'],
  [15, 'd-mmm-yy'],
  [16, 'd-mmm'],
  [17, 'mmm-yy'],
  [18, 'h:mm AM/PM'],
  [19, 'h:mm:ss AM/PM'],
  [20, 'h:mm'],
  [21, 'h:mm:ss'],
  [22, 'yyyy-mm-dd h:mm'],
  [1, '0'],
  [2, '0.00'],
  [3, '#,##0'],
  [4, '#,##0.00'],
  [9, '0%'],
  [10, '0.00%'],
  [11, '0.00E+00'],
  [12, '# ?/?'],
  [13, '# ??/??'],
  [37, '#,##0 ;(#,##0)'],
  [38, '#,##0 ;[Red](#,##0)'],
  [39, '#,##0.00;(#,##0.00)'],
  [40, '#,##0.00;[Red](#,##0.00)'],
  [45, 'mm:ss'],
  [46, '[h]:mm:ss'],
  [47, 'mmss.0'],
  [48, '##0.0E+0'],
  [49, '@'],
]);

/** A format's code, by its id and the workbook's own formats; `undefined` for the general one. */
export function formatCode(id: number, custom: ReadonlyMap<number, string>): string | undefined {
  const code = custom.get(id) ?? builtIn.get(id);
  if (code !== undefined) return /^general$/i.test(code) ? undefined : code;
  // Dates of other languages, whose display depends on the reader.
  return (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? 'yyyy-mm-dd' : undefined;
}

/** The parts of a format: a literal, what is in brackets, the width of a character, `General`, any other character. */
const formatPart = /\\.|"[^"]*"|\[[^[\]]*\]|[_*].|general|./gis;
/** A locale, a color, a width: nothing of a number's digits. */
const unseen =
  /^(?:\[(?:\$-[\da-f]+|color ?\d+|black|blue|cyan|green|magenta|red|white|yellow)\]|[_*].)$/is;
const digitPlace = /^(?:[0#?]|general)$/i;
const literal = /^(?:[ ()+-]|\\.|"[^"]*")$/s;

/** A whole number as a format of digits and literal characters shows it; `undefined` for any other format. */
export function shownDigits(number: number, code: string): string | undefined {
  const [shown = ''] = code.split(';', 1);
  const all: readonly string[] = shown.match(formatPart) ?? [];
  const parts = all.filter((part) => !unseen.test(part));
  const isPlace = (part: string): boolean => digitPlace.test(part);
  const places = parts.filter(isPlace).length;
  const isPlain = parts.every((part) => isPlace(part) || literal.test(part));
  if (places === 0 || !isPlain || !Number.isSafeInteger(number) || number < 0) return undefined;
  const first = parts.indexOf('0');
  const least = first === -1 ? 1 : parts.slice(first).filter(isPlace).length;
  const digits = String(number).padStart(least, '0');
  let taken = 0;
  let left = places;
  return parts
    .map((part) => {
      if (part.startsWith('\\')) return part.slice(1);
      if (part.startsWith('"')) return part.slice(1, -1);
      if (!isPlace(part)) return part;
      left -= 1;
      if (left >= digits.length) return '';
      const start = taken;
      // The first placeholder takes the excess digits.
      taken = digits.length - left;
      return digits.slice(start, taken);
    })
    .join('');
}

/** Workbook programs allow fewer; a longer format would be parsed for each style. */
const mostCharacters = 512;

/** Whether numbers of a format are dates, times of day, both, or numbers (as durations are). */
export function meaningOf(code: string | undefined): NumberMeaning {
  if (code === undefined || code.length > mostCharacters) return 'number';
  const [positive = ''] = code.split(';', 1);
  const { letters, isDuration } = readLetters(positive.toLowerCase());
  if (isDuration) return 'number';
  const hasTime = /[hs]/.test(letters);
  if (/[yd]/.test(letters)) return hasTime ? 'timestamp' : 'date';
  if (hasTime) return 'time';
  return letters.includes('m') ? 'date' : 'number';
}

/** Literals, and words that are not part of a date. */
const otherWords = ['general', 'am/pm', 'a/p', 'e+', 'e-'];

/** The letters of a format for parts of a date or time, without literals and conditions. */
function readLetters(format: string): { readonly letters: string; readonly isDuration: boolean } {
  let letters = '';
  let isDuration = false;
  for (let at = 0; at < format.length; at += 1) {
    const character = format.charAt(at);
    if (character === '\\' || character === '_' || character === '*') {
      at += 1;
    } else if (character === '"' || character === '[') {
      const end = format.indexOf(character === '[' ? ']' : '"', at + 1);
      if (end === -1) continue;
      isDuration ||= character === '[' && isElapsed(format.slice(at + 1, end));
      at = end;
    } else {
      const word = otherWords.find((other) => format.startsWith(other, at));
      if (word === undefined) letters += character;
      else at += word.length - 1;
    }
  }
  return { letters, isDuration };
}

/** Bracketed hours, minutes or seconds count beyond a day. */
function isElapsed(unit: string): boolean {
  return /^(?:h+|m+|s+)$/.test(unit);
}

const dayMs = 86_400_000;
/** Day 0 of the two calendars of workbooks; they take 1900 for a leap year. */
const start1900 = Date.UTC(1899, 11, 30);
const start1904 = Date.UTC(1904, 0, 1);

export const days1904 = (start1904 - start1900) / dayMs;

/** Date and time, without zone, of a serial number; `undefined` outside the calendar. */
export function textOfSerial(
  serial: number,
  is1904: boolean,
  meaning: NumberMeaning,
): string | undefined {
  const days = !is1904 && serial >= 1 && serial < 60 ? serial + 1 : serial;
  const date = new Date((is1904 ? start1904 : start1900) + Math.round(days * dayMs));
  if (Number.isNaN(date.getTime()) || serial < 0) return undefined;
  return asShown(date.toISOString().replace(/(?:\.000)?Z$/, ''), meaning);
}

/** A day where only the day is shown: midnight is a time where hours are. */
export function asShown(text: string, meaning: NumberMeaning): string {
  const showsHours = meaning === 'timestamp' || meaning === 'time';
  return showsHours ? text : text.replace(/T00:00:00(?:\.0+)?$/, '');
}

/** The serial number of a time; `undefined` before the calendar begins. */
function serialOfMs(ms: number): number | undefined {
  const days = (ms - start1900) / dayMs;
  // Before March 1900 programs disagree on the day of a number.
  return Number.isNaN(days) || days < 61 || days >= 2_958_466 ? undefined : days;
}

export function timeOfSerial(serial: number): string {
  const text = new Date(Math.round(serial * dayMs)).toISOString().slice(11, 23);
  return text.replace(/\.000$/, '');
}

/** A number in a cell, with the format that shows its meaning. */
interface NumberCell {
  readonly number: number;
  readonly code: string | undefined;
}

const dateCode = 'yyyy\\-mm\\-dd';
const timeCode = 'hh:mm:ss';
/** Digits of a number that workbook programs keep. */
const mostDigits = 15;

export function numberCell(kind: Kind | undefined, value: unknown): NumberCell | undefined {
  switch (kind?.name) {
    case 'decimal':
      return decimalCell(String(value));
    case 'date': {
      const days = parseCivil(kind, value);
      return serialCell(typeof days === 'number' ? days * 86_400_000 : undefined, dateCode);
    }
    case 'timestamp': {
      const ms = wholeMs(parseCivil(kind, value));
      return serialCell(
        ms,
        `${dateCode} ${timeCode}${ms !== undefined && ms % 1000 !== 0 ? '.000' : ''}`,
      );
    }
    case 'time': {
      const ms = wholeMs(parseCivil(kind, value));
      if (ms === undefined) return undefined;
      return { number: ms / 86_400_000, code: ms % 1000 === 0 ? timeCode : `${timeCode}.000` };
    }
    default:
      return plainNumber(value);
  }
}

export function isCellKind(kind: Kind, value?: unknown): boolean {
  const isNumber =
    integerForm(kind.name) !== undefined ||
    ['float32', 'float64', 'decimal', 'date', 'time', 'timestamp'].includes(kind.name);
  if (!isNumber) return kind.name === 'text' || kind.name === 'boolean';
  return value === undefined || numberCell(kind, value) !== undefined;
}

/** The zeros at a decimal's end are shown by its format. */
function decimalCell(text: string): NumberCell | undefined {
  const parts = /^-?(\d+)(?:\.(\d+))?$/.exec(text);
  if (!parts) return undefined;
  const [, whole = '', fraction = ''] = parts;
  if ((whole + fraction).replace(/^0+/, '').length > mostDigits) return undefined;
  return {
    number: Number(text),
    code: fraction === '' ? undefined : `0.${'0'.repeat(fraction.length)}`,
  };
}

function wholeMs(nanos: bigint | number | undefined): number | undefined {
  if (typeof nanos !== 'bigint' || nanos % 1_000_000n !== 0n) return undefined;
  return Number(nanos / 1_000_000n);
}

function serialCell(ms: number | undefined, code: string): NumberCell | undefined {
  const number = ms === undefined ? undefined : serialOfMs(ms);
  return number === undefined ? undefined : { number, code };
}

function plainNumber(value: unknown): NumberCell | undefined {
  if (value instanceof JsonText) {
    const { number, text } = value;
    // A trailing zero is shown, as for a decimal.
    return number === undefined ? undefined : (decimalCell(text) ?? { number, code: undefined });
  }
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? { number, code: undefined } : undefined;
  }
  return typeof value === 'number' && Number.isFinite(value)
    ? { number: value, code: undefined }
    : undefined;
}
