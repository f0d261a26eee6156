import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { CellText } from '../../lists/rows/chunks/row-chunk.js';
import { JsonText } from '../../lists/rows/values/kinds.js';
import { printJson } from '../../lists/rows/values/print-value.js';
import { parseJson } from '../../platform/json.js';
import { type AddressLine, type NotSubmittedReason, trimCell } from './address.js';
import { familyOf } from './phone/numbering-plan.js';
import { phoneLine } from './phone/phone-line.js';
import { possibleNumbers } from './phone/phone-readings.js';
import { barePhone, holdsSeveral, isScientific, phoneDigits } from './phone/phone-digits.js';

/** Shorter runs of digits among letters are not phone numbers. */
const fewestDigits = 5;
/** Reasons of cells that consist of a phone number's digits. */
const ofNumbers: ReadonlySet<NotSubmittedReason> = new Set([
  'several_numbers',
  'scientific_notation',
]);
/** Longer digits after a `+` were written as a number. */
const mostNational = 7;
const atSign = 0x40;

/**
 * Whether a cell looks like what it is verified as, at a glance: an email has an `@` between two other
 * characters; a phone is a possible number, several, or text with more digits than letters (`ext. 12`).
 *
 * @param address the cell's result
 */
export function looksLike(
  type: VerificationType,
  address: AddressLine,
  country: CountryCode,
): boolean {
  if ('reason' in address) return type === 'phone' && ofNumbers.has(address.reason);
  const { line, key } = address;
  if (type === 'email') return /[^@]@[^@]/.test(line);
  if (key.startsWith('+')) return true;
  const digits = phoneDigits(line);
  if (digits !== undefined) {
    // Digits of an unknown calling code: test numbers have such.
    const isForeign = digits.digits.startsWith('+') && digits.digits.length > mostNational;
    return isForeign || possibleNumbers(digits, country).length > 0;
  }
  const digitCount = line.match(/\d/g)?.length ?? 0;
  return digitCount >= fewestDigits && digitCount > (line.match(/\p{L}/gu)?.length ?? 0);
}

/** Longer cells hold more than an address. */
const mostCharacters = 320;

/** Whether a cell that does not look like its own type looks like the other, at a glance. */
export function looksLikeOther(type: VerificationType, cell: unknown): boolean {
  if (typeof cell !== 'string' || cell.length > mostCharacters) return false;
  if (type === 'phone') return /[^@\s]@[^@\s]/.test(cell);
  const digits = cell.match(/\d/g)?.length ?? 0;
  return digits >= mostNational && /^[\d\s().+/-]+$/.test(cell);
}

export function looksLikeEmail(bytes: Uint8Array, start: number, end: number): boolean {
  for (let place = start + 1; place < end - 1; place += 1) if (bytes[place] === atSign) return true;
  return false;
}

const maxLocal = 64;
const maxLabel = 63;
/** A plus sign and seven digits: shorter numbers are ambiguous. */
const minPhone = 8;

/**
 * Whether any service would accept a line, by the narrowest reading: plain emails of a domain with a dot, and
 * phones in E.164. Others may be well-formed, too.
 */
export function isSurelyWellFormed(
  type: VerificationType,
  line: string,
  country: CountryCode,
): boolean {
  if (type === 'email') return isPlainEmail(line);
  const isNumber = line.startsWith('+') && Array.from(line.slice(1)).every(isDigit);
  const phone = isNumber && line.length >= minPhone ? phoneLine(line, country) : {};
  return 'key' in phone && phone.key === line;
}

function isPlainEmail(line: string): boolean {
  const at = line.indexOf('@');
  const labels = line.slice(at + 1).split('.');
  const last = labels.at(-1) ?? '';
  return (
    at <= maxLocal &&
    line
      .slice(0, Math.max(at, 0))
      .split('.')
      .every((atom) => isWord(atom, '-_+')) &&
    labels.length > 1 &&
    // Two hyphens in a row mark encoded labels, which have their own rules.
    labels.every(
      (label) => label.length <= maxLabel && isWord(label, '-') && !label.includes('--'),
    ) &&
    last.length > 1 &&
    Array.from(last).every(isLetter)
  );
}

function isWord(text: string, between: string): boolean {
  const isEdge = (sign: string): boolean => isLetter(sign) || isDigit(sign);
  return (
    isEdge(text.charAt(0)) &&
    isEdge(text.charAt(text.length - 1)) &&
    Array.from(text).every((sign) => isEdge(sign) || between.includes(sign))
  );
}

function isLetter(sign: string): boolean {
  return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
}

function isDigit(sign: string): boolean {
  return sign >= '0' && sign <= '9';
}

type CellForm =
  | 'mailto'
  | 'tel'
  | 'named'
  | 'several'
  | 'unsplit'
  | 'beside'
  | 'no_at'
  | 'extension';

/** `undefined` for a plain address and for anything unrecognised; `several` can be split. */
export function cellForm(type: VerificationType, cell: string): CellForm | undefined {
  const form = type === 'email' ? emailForm(cell) : phoneForm(cell);
  const mayBeSeveral =
    form === 'several' || form === 'named' || form === 'mailto' || form === 'tel';
  const count = mayBeSeveral ? addressesIn(type, cell)?.length : undefined;
  if (count !== undefined && count > 1) return 'several';
  return form === 'several' && count === undefined ? 'unsplit' : form;
}

/** An address in its usual form, anywhere in a cell. */
const address =
  /[\p{L}\d_][\p{L}\d.!#$%&'*+=?^_`{|}~-]{0,63}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,8}/gu;

export function emailsIn(cell: string): readonly string[] {
  return cell.match(address) ?? [];
}

const between = {
  email: /\s*(?:[;,|]|:::|\s\/\s|\s)\s*/,
  phone: /[;,|\r\n]|:::|\s\/\s|\s(?=\+)/,
};

/**
 * The addresses in a cell of several, or the one with something around it, if each part looks complete.
 *
 * @returns `undefined` for any other cell
 */
export function addressesIn(type: VerificationType, cell: CellText): readonly string[] | undefined {
  if (typeof cell !== 'string') return undefined;
  const trimmed = trimCell(cell);
  const items = listItems(trimmed);
  // The items of a list may have names and several addresses, as other cells have.
  const parts = items
    ? items.flatMap((item) => partsOf(type, item) ?? [item])
    : partsOf(type, trimmed);
  if (!parts) return undefined;
  // An empty line in a cell has no position.
  const [first = '', ...more] = parts.filter((part) => part !== '');
  const isEach = [first, ...more].every((part) => holdsOneAddress(type, part));
  if (!isEach || (type === 'phone' && more.some((part) => isAbbreviated(part, first)))) {
    return undefined;
  }
  return more.length > 0 || first !== trimmed ? [first, ...more] : undefined;
}

function partsOf(type: VerificationType, text: string): readonly string[] | undefined {
  const bare = bareParts(type, text);
  return bare || !between[type].test(text) ? bare : text.split(between[type]).map(trimCell);
}

const separators = /[;,|\r\n]|:::|\s\/\s/;
/** Its name may contain a comma. */
const oneNamed = /^[^<>@]*<[^<>@]+@[^<>@]+>$/;

/** Parts with a name (`Ada <ada@example.com>`) or a scheme around the address. */
function bareParts(type: VerificationType, text: string): readonly string[] | undefined {
  if (!/[<:]/.test(text)) return undefined;
  const parts = oneNamed.test(text) ? [text] : text.split(separators).map(trimCell);
  const isOne = parts.filter((part) => part !== '').length === 1;
  const bare = parts.map((part) => {
    const start = part.indexOf('<');
    // Of two addresses for one part, only a person knows which is right.
    const isNamed =
      type === 'email' && start !== -1 && part.endsWith('>') && (!isOne || oneNamed.test(part));
    return (isNamed ? part.slice(start + 1, -1) : part).replace(/^(?:mailto|tel):/i, '').trim();
  });
  return bare.every((part) => part === '' || holdsOneAddress(type, part)) ? bare : undefined;
}

/** A list of values as the text that its addresses are read from. @returns `undefined` for any other value */
export function listText(value: unknown): string | undefined {
  const list = value instanceof JsonText ? parseJson(value.text) : value;
  return Array.isArray(list) ? printJson(list.filter((item) => item !== null)) : undefined;
}

export function isListText(text: string): boolean {
  const ends = text.charAt(0) + text.slice(-1);
  return ends === '[]' || ends === '{}';
}

/** The items of a list in a text: of JSON, of Python, of an array of PostgreSQL. Only JSON tells a comma in an item. */
function listItems(text: string): readonly string[] | undefined {
  if (!isListText(text)) return undefined;
  const items = parseJson(text);
  if (Array.isArray(items) && items.every((item) => typeof item === 'string')) {
    return items.map(trimCell);
  }
  return text
    .slice(1, -1)
    .split(',')
    .map((item) => unquoted(trimCell(item)));
}

function unquoted(item: string): string {
  const ends = item.charAt(0) + item.slice(-1);
  return ends === '""' || ends === "''" ? item.slice(1, -1) : item;
}

/** Whether a number may lack the area code of the one before it (`0641 1234567 / 1234568`). */
function isAbbreviated(part: string, first: string): boolean {
  const [digits, before] = [part, first].map((text) => text.replaceAll(/[^\d+]/g, ''));
  return !/^[+0]/.test(digits ?? '') && (digits ?? '').length < nationalDigits(before ?? '');
}

function nationalDigits(digits: string): number {
  const international = /^(?:\+|00)(.*)/.exec(digits)?.[1];
  if (international === undefined) return digits.length - 1;
  return international.length - (familyOf(international)?.callingCode.length ?? 0);
}

export function holdsOneAddress(type: VerificationType, text: string): boolean {
  if (type === 'email') return /^[^\s@<>()"]+@[^\s@<>()"]+$/.test(text);
  return /^[\d\s()+./-]+$/.test(text) && digitsIn(text) >= digitsOfNumber;
}

function emailForm(cell: string): CellForm | undefined {
  if (!cell.includes('@')) return 'no_at';
  if (/^mailto:/i.test(cell)) return 'mailto';
  if (cell.endsWith('>') && cell.split('<').length === 2) return 'named';
  if (cell.length > mostCharacters) return undefined;
  const found = emailsIn(cell);
  if (found.length > 1) return 'several';
  return found.length === 1 && found[0] !== cell ? 'beside' : undefined;
}

/** Fewest digits of a number; shorter digits after a slash may be its end (`030/901820`). */
const digitsOfNumber = 7;

function phoneForm(cell: string): CellForm | undefined {
  const text = cell.length > mostCharacters ? cell : barePhone(cell);
  // What follows the letter of an exponent is no extension.
  if (isScientific(text)) return undefined;
  const numbers = text
    .split(/[;,|/:\n]|\s(?=\+)/)
    .filter((part) => digitsIn(part) >= digitsOfNumber);
  const worded = text.split(/\p{L}+/u).filter((part) => digitsIn(part) >= digitsOfNumber);
  const isDigits = !/\p{L}/u.test(text);
  const isMore = isDigits && (holdsSeveral(text) || isPair(text));
  if (numbers.length > 1 || worded.length > 1 || isMore) return 'several';
  if (/^tel:/i.test(text)) return 'tel';
  const [number = '', ...more] = text.split(/[\p{L}#]/u);
  const isExtended = digitsIn(number) >= digitsOfNumber && digitsIn(more.at(-1) ?? '') > 0;
  if (isExtended) return 'extension';
  // Letters that a hyphen joins to the digits stand for digits: 1-800-555-CALL.
  const isBeside = !isDigits && worded.length === 1 && digitsIn(worded[0] ?? '') === digitsIn(text);
  return isBeside && !/\d[-.]?\p{L}/u.test(text) ? 'beside' : undefined;
}

/** E.164 allows fifteen, and `00` may precede them. */
const mostDigits = 17;

/** Whether there are too many groups of digits for one number, or the same form twice (`555-0100 555-0101`). */
function isPair(text: string): boolean {
  const digits = digitsIn(text);
  const words = text.replaceAll(/\d/g, '0').split(/\s+/);
  const half = words.length / 2;
  const isDoubled = words.slice(0, half).join(' ') === words.slice(half).join(' ');
  return (digits > mostDigits && /\s/.test(text)) || (isDoubled && digits >= 2 * digitsOfNumber);
}

function digitsIn(text: string): number {
  return text.match(/\d/g)?.length ?? 0;
}
