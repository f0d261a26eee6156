import { isUtf8 } from 'node:buffer';
import { type CellText, invalidText } from '../chunks/row-chunk.js';
import { JsonText } from './kinds.js';

/** Deeper values are not printed; a hostile one must not end the process. */
const maxDepth = 256;

/**
 * A value as it is where all cells are text: nothing for null and what is absent, `true` and
 * `false`, moments in ISO 8601 and UTC, nested values as JSON, bytes as the
 * text that they are or else in base64. `undefined` when it has no form at all.
 */
export function printValue(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'undefined':
      return '';
    case 'number':
      return printNumber(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? '' : printObject(value);
    default:
      return undefined;
  }
}

/** A value as JSON; numbers keep their digits, NaN and infinities are text, and other values without a form null. */
export function printJson(value: unknown, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? printNumber(value) : JSON.stringify(String(value));
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      break;
    default:
      return 'null';
  }
  if (value === null || depth > maxDepth) return 'null';
  if (Array.isArray(value)) {
    return `[${value.map((item: unknown) => printJson(item, depth + 1)).join(',')}]`;
  }
  if (value instanceof JsonText) return value.inJson();
  const plain = printPlain(value);
  if (plain !== undefined) return JSON.stringify(plain);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const texts = members.map(
    ([name, member]) => `${JSON.stringify(name)}:${printJson(member, depth + 1)}`,
  );
  return `{${texts.join(',')}}`;
}

function printNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Digits that single-precision numbers surely hold, and digits that distinguish each from all others. */
const [fewestDigits, mostDigits] = [6, 9];

/** The shortest number for the same single-precision value: 0.1 for 0.10000000149011612. */
export function shortSingle(single: number): number {
  if (!Number.isFinite(single) || Number.isSafeInteger(single)) return single;
  for (let digits = fewestDigits; digits < mostDigits; digits += 1) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return short;
  }
  return Number(single.toPrecision(mostDigits));
}

/** A decimal of any size, from its digits without the point. */
export function printDecimal(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale);
  return `${unscaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Whether a value may be in a cell at all: no symbol, no function. */
export function isPrintable(value: unknown): boolean {
  return value !== invalidText && typeof value !== 'symbol' && typeof value !== 'function';
}

function printObject(value: object): string {
  return value instanceof JsonText ? value.text : (printPlain(value) ?? printJson(value));
}

/** The text of an object that represents one value; `undefined` for any other. */
function printPlain(value: object): string | undefined {
  if (value instanceof Date) return printDate(value);
  if (value instanceof Uint8Array) {
    return textOfBytes(value) ?? bufferOf(value).toString('base64');
  }
  const isBoxed = value instanceof String || value instanceof Number || value instanceof Boolean;
  return isBoxed ? String(value.valueOf()) : undefined;
}

function printDate(date: Date): string {
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

const textControls: ReadonlySet<number> = new Set([9, 10, 13]);

/** Bytes as text, if they are: numbers and structures that happen to be UTF-8 show by control characters. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  const isText = isUtf8(bytes) && bytes.every((byte) => byte >= 32 || textControls.has(byte));
  return isText ? bufferOf(bytes).toString('utf8') : undefined;
}

export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A value for the line rules: numbers and the like as printed, bytes as the text that they are; others are invalid. */
export function textOfValue(value: unknown): CellText {
  switch (typeof value) {
    case 'string':
      return value;
    case 'undefined':
      return undefined;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      if (value === null) return undefined;
      if (value instanceof JsonText) return value.text;
      if (value instanceof Uint8Array) return textOfBytes(value) ?? invalidText;
      return value instanceof String ? value.valueOf() : invalidText;
  }
}
