/** Every kind of value that a column can hold, whatever its origin and destination. */
export const kindNames = [
  'text',
  'boolean',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'decimal',
  'float32',
  'float64',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'interval',
  'uuid',
  'json',
  'binary',
] as const;

export type KindName = (typeof kindNames)[number];

/**
 * The kind of a column. Its cells are
 *
 * - `boolean`: true or false; `binary`: bytes; `json`: a `JsonText`, or lists and objects;
 * - `int8` to `uint64`: a number or a bigint; `float32`, `float64`: a number;
 * - `decimal`: its digits as text, as many after the point as its source gives;
 * - `date`, `time`, `timestamp` (without zone), `timestamptz` (a moment): text as the source prints it, ISO
 *   8601 with a space instead of the `T`; a moment may be a `Date`;
 * - `interval`: a duration in ISO 8601; `uuid`, `text`: text.
 */
export interface Kind {
  readonly name: KindName;
  /** Most digits of a decimal; absent where unbounded. */
  readonly precision?: number;
  /** Digits after the point: of a decimal, or of a second (default 6). */
  readonly scale?: number;
}

/** A kind as people read it: `decimal(10,2)`. */
export function printKind({ name, precision, scale }: Kind): string {
  switch (name) {
    case 'decimal':
      return precision === undefined ? name : `${name}(${precision},${scale ?? 0})`;
    case 'timestamp':
      return 'timestamp without zone';
    case 'timestamptz':
      return 'timestamp with zone';
    default:
      return name;
  }
}

const widths = { int8: 8, int16: 16, int32: 32, int64: 64 } as const;
const unsignedWidths = { uint8: 8, uint16: 16, uint32: 32, uint64: 64 } as const;

/** Bits and sign of an integer kind; `undefined` for any other. */
export function integerForm(
  name: KindName,
): { readonly bits: 8 | 16 | 32 | 64; readonly isSigned: boolean } | undefined {
  if (name in widths) return { bits: widths[name as keyof typeof widths], isSigned: true };
  if (!(name in unsignedWidths)) return undefined;
  return { bits: unsignedWidths[name as keyof typeof unsignedWidths], isSigned: false };
}

export function integerKind(bits: number, isSigned: boolean): Kind {
  return { name: `${isSigned ? '' : 'u'}int${bits}` as KindName };
}

export function secondDigits({ scale = 6 }: Kind): number {
  return scale;
}

export function kindOfValue(value: unknown): Kind | undefined {
  switch (typeof value) {
    case 'boolean':
      return { name: 'boolean' };
    case 'number':
      return { name: Number.isSafeInteger(value) ? 'int64' : 'float64' };
    case 'bigint':
      if (value === BigInt.asIntN(64, value)) return { name: 'int64' };
      if (value === BigInt.asUintN(64, value)) return { name: 'uint64' };
      return decimalOf(String(value));
    case 'undefined':
      return undefined;
    case 'object':
      if (value === null) return undefined;
      if (value instanceof Date) {
        return Number.isNaN(value.getTime()) ? undefined : { name: 'timestamptz', scale: 3 };
      }
      if (value instanceof Uint8Array) return { name: 'binary' };
      if (value instanceof JsonText && /^-?\d/.test(value.text)) {
        return { name: value.number === undefined ? 'text' : 'float64' };
      }
      return value instanceof String ? { name: 'text' } : { name: 'json' };
    default:
      return { name: 'text' };
  }
}

export function decimalOf(text: string): Kind | undefined {
  const parts = /^[+-]?(\d*)(?:\.(\d*))?$/.exec(text);
  if (!parts) return undefined;
  const whole = (parts[1] ?? '').replace(/^0+/, '').length;
  const scale = (parts[2] ?? '').length;
  return { name: 'decimal', precision: Math.max(1, whole + scale), scale };
}

/** The kind of a column with values of both; text where they have nothing in common. */
export function joinKinds(one: Kind, other: Kind): Kind {
  if (one.name === other.name) {
    if (one.name === 'decimal') return joinDecimals(one, other);
    return secondDigits(one) >= secondDigits(other) ? one : other;
  }
  const both = [one, other];
  const is = (...names: readonly KindName[]): boolean =>
    both.every(({ name }) => names.includes(name));
  if (both.every(({ name }) => integerForm(name) !== undefined || name === 'decimal')) {
    return joinDecimals(asDecimal(one), asDecimal(other));
  }
  if (is('int64', 'float64') || is('float32', 'float64')) return { name: 'float64' };
  if (is('date', 'timestamp')) return one.name === 'timestamp' ? one : other;
  return { name: 'text' };
}

function asDecimal(kind: Kind): Kind {
  return kind.name === 'decimal' ? kind : { name: 'decimal', precision: 20, scale: 0 };
}

function joinDecimals(one: Kind, other: Kind): Kind {
  if (one.precision === undefined) return one;
  if (other.precision === undefined) return other;
  const scale = Math.max(one.scale ?? 0, other.scale ?? 0);
  const whole = Math.max(one.precision - (one.scale ?? 0), other.precision - (other.scale ?? 0));
  return { name: 'decimal', precision: Math.max(1, whole + scale), scale };
}

/** A cell's value for a program: JSON as text, or as a number where it is one. */
export function plainCell(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainCell);
  return value instanceof JsonText ? (value.number ?? value.text) : value;
}

/** The digits of a number from the first that is no zero. */
function significantOf(text: string): string {
  const [digits = ''] = /^[^eE]*/.exec(text) ?? [];
  return digits.replaceAll(/\D/g, '').replace(/^0+/, '');
}

/** Digits that every normal double holds, and digits that distinguish it from all others. */
const [heldDigits, mostDigits] = [15, 17];
/** The smallest normal double. */
const smallestWhole = 2 ** -1022;

/**
 * JSON as its source wrote it: digits, repeated keys and order are preserved.
 *
 * @example
 * ```ts
 * console.log(String(new JsonText('1.50'))); // 1.50
 * ```
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /**
   * The double that has the value of a number which it would print otherwise: `1.50`. `undefined` where
   * the text is not a number, or no double has its value.
   */
  get number(): number | undefined {
    if (!/^-?\d/.test(this.text)) return undefined;
    const number = Number(this.text);
    const significant = significantOf(this.text);
    if (significant === '') return number;
    const { length } = significant;
    const isHeld =
      length <= heldDigits ||
      !/[1-9]/.test(significant.slice(heldDigits)) ||
      // As many programs print a double: 48.135125299999999.
      (length <= mostDigits && significantOf(number.toPrecision(length)) === significant);
    const size = Math.abs(number);
    return isHeld && size >= smallestWhole && size < Infinity ? number : undefined;
  }

  toString(): string {
    return this.text;
  }

  /** The same on one line, as part of other JSON; any other text becomes a JSON string. */
  inJson(): string {
    try {
      JSON.parse(this.text);
    } catch {
      return JSON.stringify(this.text);
    }
    // Only between values: in strings they are escaped.
    return this.text.replaceAll(/[\r\n]+/g, ' ').trim();
  }
}
