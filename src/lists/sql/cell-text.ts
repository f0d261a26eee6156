import { JsonText, type KindName } from '../rows/values/kinds.js';
import { bufferOf, printJson, printValue } from '../rows/values/print-value.js';

/*
 * Cells between databases, in the text format of PostgreSQL's COPY, which represents every kind of cell: a
 * line for each row, and tabs between cells. To and from PostgreSQL they pass unchanged.
 */

const nullText = '\\N';

const escapes = new Map([
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
]);
const escaped = new Map([...escapes].map(([character, text]) => [text.charAt(1), character]));
const hasSpecial = /[\\\b\t\n\v\f\r]/;

/** Encodes a text between two tabs. */
export function writeText(text: string): string {
  if (!hasSpecial.test(text)) return text;
  return text.replaceAll(/[\\\b\t\n\v\f\r]/g, (character) => escapes.get(character) ?? character);
}

/** Decodes the text between two tabs; `undefined` for null. */
export function readText(field: string): string | undefined {
  if (!field.includes('\\')) return field;
  if (field === nullText) return undefined;
  return field.replaceAll(/\\(.)/g, (_, letter: string) => escaped.get(letter) ?? letter);
}

/** Encodes any value of a source; null and absent values are null. */
export function writeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return writeText(value);
    case 'boolean':
      return value ? 't' : 'f';
    case 'number':
    case 'bigint':
      return printValue(value) ?? '';
    default:
      if (value === null || value === undefined) return nullText;
      if (value instanceof Uint8Array) return `\\\\x${bufferOf(value).toString('hex')}`;
      return writeText(printValue(value) ?? '');
  }
}

export function writeAny(value: unknown): string {
  if (value === null || value === undefined) return nullText;
  if (value instanceof Uint8Array) {
    return writeText(JSON.stringify({ bytes: bufferOf(value).toString('base64') }));
  }
  if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) {
    return writeText(JSON.stringify({ integer: String(value) }));
  }
  // JSON has no number for it.
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return writeText(JSON.stringify({ number: String(value) }));
  }
  return writeText(printJson(value));
}

/** A cell's value; `null` for null. */
export function valueOfText(
  kind: { readonly name: KindName | 'any'; readonly scale?: number },
  text: string | undefined,
): unknown {
  if (text === undefined) return null;
  switch (kind.name) {
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
    case 'uint64':
      return valueOfInteger(text);
    case 'decimal':
      return kind.scale === 0 && /^-?\d+$/.test(text) ? valueOfInteger(text) : text;
    case 'float32':
    case 'float64':
      return Number(text);
    case 'boolean':
      return text === 't';
    case 'json':
      return new JsonText(text);
    case 'binary':
      return Buffer.from(text.slice(2), 'hex');
    case 'any':
      return valueOfAny(text);
    default:
      return text;
  }
}

function valueOfInteger(text: string): unknown {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

function valueOfAny(text: string): unknown {
  const value = JSON.parse(text) as
    | string
    | number
    | boolean
    | { readonly bytes: string }
    | { readonly integer: string }
    | { readonly number: string };
  if (typeof value !== 'object') return value;
  if ('bytes' in value) return Buffer.from(value.bytes, 'base64');
  return 'integer' in value ? BigInt(value.integer) : Number(value.number);
}
