/** What a number in a cell stands for, as its format says. */
export type NumberMeaning = 'number' | 'date' | 'time';

/** Formats that every workbook has without naming them. */
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

/** A format's code, by its id and what the workbook itself names; `undefined` for the general one. */
export function formatCode(id: number, own: ReadonlyMap<number, string>): string | undefined {
  const code = own.get(id) ?? builtIn.get(id);
  if (code !== undefined) return /^general$/i.test(code) ? undefined : code;
  // Dates of other languages, whose look depends on where they are read.
  return (id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? 'yyyy-mm-dd' : undefined;
}

/** A whole number as a format of digits and fixed characters shows it; `undefined` for any other format. */
export function shownDigits(number: number, code: string): string | undefined {
  const [shown = ''] = code.split(';', 1);
  const parts: readonly string[] = shown.match(/\\.|"[^"]*"|./gs) ?? [];
  const places = parts.filter((part) => part === '0' || part === '#').length;
  const first = parts.indexOf('0');
  const isPlain = parts.every((part) => /^(?:[0# ()+-]|\\.|"[^"]*")$/s.test(part));
  if (first === -1 || !isPlain || !Number.isSafeInteger(number) || number < 0) return undefined;
  const least = parts.slice(first).filter((part) => part === '0' || part === '#').length;
  const digits = String(number).padStart(least, '0');
  let taken = 0;
  let left = places;
  return parts
    .map((part) => {
      if (part.startsWith('\\')) return part.slice(1);
      if (part.startsWith('"')) return part.slice(1, -1);
      if (part !== '0' && part !== '#') return part;
      left -= 1;
      if (left >= digits.length) return '';
      const start = taken;
      // The first place has the digits as well that the others have no room for.
      taken = digits.length - left;
      return digits.slice(start, taken);
    })
    .join('');
}

/** A workbook's own programs allow fewer; a longer format would be read once for each style. */
const mostCharacters = 512;

/** Whether numbers of a format are dates, times of the day, or numbers, as durations are. */
export function meaningOf(code: string | undefined): NumberMeaning {
  if (code === undefined || code.length > mostCharacters) return 'number';
  const [positive = ''] = code.split(';', 1);
  const { letters, isDuration } = readLetters(positive.toLowerCase());
  if (isDuration) return 'number';
  if (/[yd]/.test(letters) || (letters.includes('m') && !/[hs]/.test(letters))) return 'date';
  return /[hs]/.test(letters) ? 'time' : 'number';
}

/** What stands for itself, or for something else than a part of a date. */
const otherWords = ['general', 'am/pm', 'a/p', 'e+', 'e-'];

/** The letters of a format that stand for parts of a date or time, without texts and conditions. */
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

/** Hours, minutes or seconds in brackets are counted on, beyond a day. */
function isElapsed(unit: string): boolean {
  return /^(?:h+|m+|s+)$/.test(unit);
}

const dayMs = 86_400_000;
/** Day 0 of the two calendars that workbooks count from; 1900 was no leap year, but they think so. */
const start1900 = Date.UTC(1899, 11, 30);
const start1904 = Date.UTC(1904, 0, 1);

/** Days between the two. */
export const days1904 = (start1904 - start1900) / dayMs;

/** Date and time, without zone, of a number of days; `undefined` where the calendar has none. */
export function textOfSerial(serial: number, is1904: boolean): string | undefined {
  const days = !is1904 && serial >= 1 && serial < 60 ? serial + 1 : serial;
  const date = new Date((is1904 ? start1904 : start1900) + Math.round(days * dayMs));
  if (Number.isNaN(date.getTime()) || serial < 0) return undefined;
  const text = date.toISOString();
  if (text.endsWith('T00:00:00.000Z')) return text.slice(0, -'T00:00:00.000Z'.length);
  return text.replace(/(?:\.000)?Z$/, '');
}

/** The number of days that a workbook counts to a time; `undefined` before its calendar begins. */
export function serialOfMs(ms: number): number | undefined {
  const days = (ms - start1900) / dayMs;
  // Before March 1900 programs disagree on what day a number is.
  return Number.isNaN(days) || days < 61 || days >= 2_958_466 ? undefined : days;
}

/** A time of the day, from the fraction of a day that it is. */
export function timeOfSerial(serial: number): string {
  const text = new Date(Math.round(serial * dayMs)).toISOString().slice(11, 23);
  return text.replace(/\.000$/, '');
}
