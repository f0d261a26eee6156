const plus = 0x2b;
const zero = 0x30;
const nine = 0x39;

/** What a phone cell says where it is made of digits and separators. */
export interface PhoneDigits {
  /** ASCII digits, with a `+` in front where one stands before them. */
  readonly digits: string;
  /** Where among them a zero stands that is in brackets, behind other digits: `+49 (0) 30`. */
  readonly zeroAt?: number;
}

/** A zero in brackets. */
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
  const match = hasBracket ? zeroInBrackets.exec(text) : undefined;
  const zeroAt = match ? (digitsOf(text.slice(0, match.index))?.length ?? 0) : 0;
  return zeroAt > 0 ? { digits, zeroAt } : { digits };
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

/** What may stand between the digits of a number and says nothing. */
function isSeparator(code: number): boolean {
  return isDash(code) || isSpace(code) || '/.／．'.includes(String.fromCharCode(code));
}

function isDash(code: number): boolean {
  return (
    code === 0x2d ||
    (code >= 0x2010 && code <= 0x2015) ||
    code === 0x2212 ||
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
