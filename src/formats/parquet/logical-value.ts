import { isUtf8 } from 'node:buffer';
import type { SchemaElement } from 'hyparquet';

/** Turns what a Parquet column stores into what it stands for. */
export type ReadLogical = (stored: unknown) => unknown;

const dayMs = 86_400_000;

/**
 * How the values of a flat column are read. Nothing is rounded: decimals become numbers where a double
 * holds them and text where not, times finer than a millisecond become text.
 */
export function logicalReader(element: SchemaElement): ReadLogical {
  const { converted_type: converted, logical_type: logical, type } = element;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    return reader((value) => readDecimal(value, element.scale ?? 0));
  }
  if (converted === 'DATE' || logical?.type === 'DATE') {
    return reader((value) => new Date(Number(value) * dayMs));
  }
  if (converted === 'TIMESTAMP_MILLIS') return reader((value) => readTime(value, 1n));
  if (converted === 'TIMESTAMP_MICROS') return reader((value) => readTime(value, 1000n));
  if (logical?.type === 'TIMESTAMP') return reader((value) => readTime(value, perMs[logical.unit]));
  if (type === 'INT96') return reader(readInt96);
  if (logical?.type === 'UUID') return reader(readUuid);
  if (isUnsigned(element)) return reader((value) => readUnsigned(value));
  if (type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY') return reader(readText);
  return reader((value) => value);
}

const perMs = { MILLIS: 1n, MICROS: 1000n, NANOS: 1_000_000n } as const;

function reader(read: (value: unknown) => unknown): ReadLogical {
  return (stored) => (stored === null || stored === undefined ? null : read(stored));
}

function readDecimal(value: unknown, scale: number): number | string {
  const unscaled = value instanceof Uint8Array ? signedBytes(value) : BigInt(value as number);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  let fraction = digits.slice(digits.length - scale);
  while (fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  const text = `${unscaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
  return String(Number(text)) === text ? Number(text) : text;
}

/** Two's complement, the greatest byte first. */
function signedBytes(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}

function readTime(value: unknown, units: bigint): Date | string {
  const count = BigInt(value as bigint | number);
  const rest = ((count % units) + units) % units;
  const ms = (count - rest) / units;
  const date = new Date(Number(ms));
  if (rest === 0n) return date;
  const fraction = String(rest).padStart(String(units).length - 1, '0');
  return date.toISOString().replace('Z', `${fraction}Z`);
}

function readInt96(value: unknown): Date | string {
  return readTime(int96Nanos(value as bigint), 1_000_000n);
}

/** Days of the Julian calendar and nanoseconds of the day, in one number, as nanoseconds since 1970. */
export function int96Nanos(stored: bigint): bigint {
  const days = (stored >> 64n) - 2_440_588n;
  return days * 86_400_000_000_000n + (stored & 0xff_ff_ff_ff_ff_ff_ff_ffn);
}

function readUuid(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  const hex = Buffer.from(value).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function isUnsigned({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  if (logical?.type === 'INTEGER') return !logical.isSigned;
  return converted?.startsWith('UINT_') === true;
}

function readUnsigned(value: unknown): unknown {
  if (typeof value === 'bigint') return BigInt.asUintN(64, value);
  return typeof value === 'number' ? value >>> 0 : value;
}

/** Text where it is some, whatever the column is called; else bytes. */
function readText(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  return isUtf8(value) ? Buffer.from(value).toString('utf8') : value;
}
