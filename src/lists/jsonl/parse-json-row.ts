import { isUtf8 } from 'node:buffer';
import { InputError, type ErrorFault } from '../../platform/errors/errors.js';
import { isDeeperThan } from '../../platform/json.js';
import { grouped } from '../../platform/text/shown-numbers.js';
import { invalidText } from '../rows/chunks/row-chunk.js';
import { JsonText } from '../rows/values/kinds.js';

export type JsonRow = Readonly<Record<string, unknown>>;

/** Lists of contacts are not deeper; the walk must not exhaust the stack. */
const maxDepth = 200;

/**
 * Parses a line as a JSON object. Whole numbers too large for a double become bigints, others that a double
 * would print differently keep their text: no digit is lost. Invalid UTF-8 is `invalidText`.
 *
 * @param isRounded whether numbers may be doubles all the same: faster for readers of text
 *
 * @returns `undefined` for a line of white space
 */
export function parseJsonRow(
  bytes: Buffer,
  at: { readonly name: string; readonly line: number },
  isRounded = false,
): JsonRow | undefined {
  const text = bytes.toString('utf8');
  if (text.trim() === '') return undefined;
  const refuse = (why: string, fault: ErrorFault = 'not_json'): InputError =>
    new InputError(`${at.name}, line ${grouped(at.line)}: ${why}`, { line: at.line, fault });
  if (isDeeperThan(bytes, maxDepth))
    throw refuse(`more than ${String(maxDepth)} brackets are nested`, 'too_large');
  let value: unknown;
  try {
    value = !isRounded && hasOddNumber(text) ? parseExactly(text) : JSON.parse(text);
  } catch {
    // Its message would quote the line.
    throw refuse('this is not JSON; each line has to hold one object, with nothing after it');
  }
  if (!isJsonObject(value)) throw refuse('this is JSON, but no object with names and values');
  return isUtf8(bytes) ? value : (withInvalidText(value) as JsonRow);
}

export function isJsonObject(value: unknown): value is JsonRow {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonText)
  );
}

/** Numbers that may print differently: many digits, a trailing zero, an exponent, a negative zero. */
export function hasOddNumber(json: string): boolean {
  return (
    /\d(?:\.?\d){15}|\.0{6}|-0[\s,\]}]/.test(json) ||
    /\.\d*0[\s,\]}]/.test(json) ||
    /[eE][+-]?\d+[\s,\]}]/.test(json)
  );
}

/** Longer whole numbers stay text: arithmetic takes longer than reading them. */
const mostBigintDigits = 1000;

function parseExactly(text: string): unknown {
  // No text of the file can contain the mark, which is unpredictable.
  const mark = `\u0000${Math.random().toString(36)}`;
  // Checked before anything is replaced: invalid JSON must not become valid.
  JSON.parse(text);
  const marked = replaceNumbers(text, (digits) =>
    String(Number(digits)) === digits ? digits : JSON.stringify(mark + digits),
  );
  return JSON.parse(marked, (_, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    const digits = value.slice(mark.length);
    const isWhole = digits.length <= mostBigintDigits && /^-?[1-9]\d*$/.test(digits);
    return isWhole ? BigInt(digits) : new JsonText(digits);
  });
}

/** Replaces the numbers of a JSON text, but nothing in its strings. */
function replaceNumbers(json: string, replace: (digits: string) => string): string {
  let replaced = '';
  let done = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    if (character === '"') {
      at = endOfString(json, at);
    } else if (character === '-' || isDigit(character)) {
      const from = at;
      while (numberPart.has(json.charAt(at + 1))) at += 1;
      replaced += json.slice(done, from) + replace(json.slice(from, at + 1));
      done = at + 1;
    }
  }
  return replaced + json.slice(done);
}

const numberPart = new Set('0123456789+-.eE');

export function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

export function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (json.charAt(at) !== '"') at += json.charAt(at) === '\\' ? 2 : 1;
  return at;
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** A decoder's replacement characters mark invalid text. */
function withInvalidText(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\ufffd') ? invalidText : value;
  if (Array.isArray(value)) {
    return JSON.stringify(value, bigintAsText).includes('\ufffd') ? invalidText : value;
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withInvalidText(member)]),
  );
}
