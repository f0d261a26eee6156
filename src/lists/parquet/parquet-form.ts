import type { SchemaElement } from 'hyparquet';
import { parseCivil } from '../rows/values/civil-time.js';
import {
  JsonText,
  integerForm,
  integerKind,
  secondDigits,
  type Kind,
} from '../rows/values/kinds.js';
import { decimalDigits, type ColumnFacts } from '../rows/values/kind-tally.js';
import { printJson, printValue } from '../rows/values/print-value.js';

export interface ParquetForm {
  /** Its schema without the name; every column may have nulls. */
  readonly element: Omit<SchemaElement, 'name'>;
  /** A value in stored form; `undefined` where the column cannot represent it. */
  readonly store: (value: unknown) => unknown;
}

const text: ParquetForm = {
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  store: printValue,
};

const [digitsOf64, digitsOf128] = [18, 38];

export function parquetForm(facts: ColumnFacts): ParquetForm | undefined {
  const { kind, isSpecial } = facts;
  // A column without any value is text.
  if (kind === undefined) return text;
  const integer = integerForm(kind.name);
  if (integer) return integers(integer);
  switch (kind.name) {
    case 'text':
      return text;
    case 'boolean':
      return { element: { type: 'BOOLEAN' }, store: only((value) => typeof value === 'boolean') };
    case 'float32':
      return { element: { type: 'FLOAT' }, store: number };
    case 'float64':
      return { element: { type: 'DOUBLE' }, store: number };
    case 'decimal':
      return isSpecial ? undefined : decimals(decimalDigits(facts));
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return isSpecial ? undefined : civil(kind);
    case 'uuid':
      return {
        element: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
        store: uuidBytes,
      };
    case 'json':
      return {
        element: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
        store: (value) => Buffer.from(value instanceof JsonText ? value.text : printJson(value)),
      };
    case 'binary':
      return {
        element: { type: 'BYTE_ARRAY' },
        store: only((value) => value instanceof Uint8Array),
      };
    // Parquet's interval has no microseconds.
    default:
      return undefined;
  }
}

export function parquetFormOrText(facts: ColumnFacts): ParquetForm {
  return parquetForm(facts) ?? text;
}

function only(isOne: (value: unknown) => boolean): ParquetForm['store'] {
  return (value) => (isOne(value) ? value : undefined);
}

function number(value: unknown): number | undefined {
  if (value instanceof JsonText) return value.number;
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

function integers({ bits, isSigned }: NonNullable<ReturnType<typeof integerForm>>): ParquetForm {
  const isLong = bits === 64;
  const converted = `${isSigned ? '' : 'U'}INT_${bits}` as 'INT_8';
  const isPlain = isSigned && bits >= 32;
  return {
    element: { type: isLong ? 'INT64' : 'INT32', ...(!isPlain && { converted_type: converted }) },
    store(value) {
      if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) return undefined;
      const whole = BigInt(value as bigint | number);
      if (whole !== (isSigned ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole))) {
        return undefined;
      }
      const stored = BigInt.asIntN(isLong ? 64 : 32, whole);
      return isLong ? stored : Number(stored);
    },
  };
}

function decimals({ precision, scale }: ReturnType<typeof decimalDigits>): ParquetForm | undefined {
  if (precision > digitsOf128 || scale > precision) return undefined;
  const isLong = precision <= digitsOf64;
  const most = 10n ** BigInt(precision);
  return {
    element: {
      ...(isLong
        ? { type: 'INT64' as const }
        : { type: 'FIXED_LEN_BYTE_ARRAY' as const, type_length: 16 }),
      converted_type: 'DECIMAL',
      precision,
      scale,
    },
    store(value) {
      const parts = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(String(value));
      const fraction = parts?.[3] ?? '';
      if (!parts || /[1-9]/.test(fraction.slice(scale))) return undefined;
      const digits = (parts[2] ?? '') + fraction.slice(0, scale).padEnd(scale, '0');
      const unscaled = BigInt(digits);
      if (unscaled >= most) return undefined;
      const signed = parts[1] === '-' ? -unscaled : unscaled;
      return isLong ? signed : bytesOf128(signed);
    },
  };
}

function bytesOf128(value: bigint): Uint8Array {
  return Buffer.from(BigInt.asUintN(128, value).toString(16).padStart(32, '0'), 'hex');
}

const units = [
  { digits: 3, unit: 'MILLIS', nanos: 1_000_000n },
  { digits: 6, unit: 'MICROS', nanos: 1000n },
  { digits: 9, unit: 'NANOS', nanos: 1n },
] as const;

function civil(kind: Kind): ParquetForm | undefined {
  if (kind.name === 'date') {
    return {
      element: { type: 'INT32', converted_type: 'DATE' },
      store: (value) => parseCivil(kind, value),
    };
  }
  const found = units.find(({ digits }) => secondDigits(kind) <= digits);
  if (!found) return undefined;
  const { unit, nanos } = found;
  const isTime = kind.name === 'time';
  const isLong = !isTime || unit !== 'MILLIS';
  return {
    element: {
      type: isLong ? 'INT64' : 'INT32',
      logical_type: {
        type: isTime ? 'TIME' : 'TIMESTAMP',
        isAdjustedToUTC: kind.name === 'timestamptz',
        unit,
      },
    },
    store(value) {
      const count = parseCivil(kind, value);
      if (typeof count !== 'bigint' || count % nanos !== 0n) return undefined;
      const stored = count / nanos;
      if (stored !== BigInt.asIntN(64, stored)) return undefined;
      return isLong ? stored : Number(stored);
    },
  };
}

function uuidBytes(value: unknown): unknown {
  const hex = String(value).replaceAll('-', '');
  return /^[\da-f]{32}$/i.test(hex) ? Buffer.from(hex, 'hex') : undefined;
}

/** The kind of a flat column by its schema; `undefined` where only each value shows it. */
export function kindOfElement(element: SchemaElement): Kind | undefined {
  const { converted_type: converted, logical_type: logical, type, precision, scale } = element;
  if (converted === 'DECIMAL' || logical?.type === 'DECIMAL') {
    const of = logical?.type === 'DECIMAL' ? logical : { precision, scale };
    const digits = precision ?? of.precision;
    const behind = scale ?? of.scale ?? 0;
    return { name: 'decimal', ...(digits !== undefined && { precision: digits }), scale: behind };
  }
  if (converted === 'DATE' || logical?.type === 'DATE') return { name: 'date' };
  const clock = clockOf(element);
  if (clock) return clock.kind;
  if (logical?.type === 'INTEGER') return integerKind(logical.bitWidth, logical.isSigned);
  const width = /^(U?)INT_(\d+)$/.exec(converted ?? '');
  if (width) return integerKind(Number(width[2]), width[1] === '');
  if (converted === 'JSON' || logical?.type === 'JSON') return { name: 'json' };
  if (converted === 'INTERVAL') return { name: 'interval' };
  if (logical?.type === 'UUID') return { name: 'uuid' };
  if (logical?.type === 'FLOAT16') return { name: 'float32' };
  if (converted === 'UTF8' || converted === 'ENUM') return { name: 'text' };
  if (logical?.type === 'STRING' || logical?.type === 'ENUM') return { name: 'text' };
  if (holdsBytes(element)) return { name: 'binary' };
  switch (type) {
    case 'BOOLEAN':
      return { name: 'boolean' };
    case 'INT32':
      return { name: 'int32' };
    case 'INT64':
      return { name: 'int64' };
    case 'FLOAT':
      return { name: 'float32' };
    case 'DOUBLE':
      return { name: 'float64' };
    // Text where valid, as old writers do not mark it.
    default:
      return undefined;
  }
}

/** Unit and kind of a column of times; `undefined` for any other. */
export function clockOf({
  converted_type: converted,
  logical_type: logical,
  type,
}: SchemaElement): { readonly kind: Kind; readonly nanos: bigint } | undefined {
  const clock = (name: Kind['name'], unit: string | undefined) => {
    const { digits, nanos } = units.find((one) => one.unit === unit) ?? units[0];
    return { kind: { name, scale: digits }, nanos };
  };
  if (logical?.type === 'TIMESTAMP') {
    return clock(logical.isAdjustedToUTC ? 'timestamptz' : 'timestamp', logical.unit);
  }
  if (logical?.type === 'TIME') return clock('time', logical.unit);
  // Without the newer annotation such times are in UTC.
  if (converted?.startsWith('TIMESTAMP_') === true)
    return clock('timestamptz', converted.slice(10));
  if (converted?.startsWith('TIME_') === true) return clock('time', converted.slice(5));
  return type === 'INT96' ? clock('timestamp', 'NANOS') : undefined;
}

/** Whether its bytes are not text, even if they look like it. */
export function holdsBytes({
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): boolean {
  const isBson = converted === 'BSON' || logical?.type === 'BSON';
  return isBson || logical?.type === 'GEOMETRY' || logical?.type === 'GEOGRAPHY';
}

export function holdsFloats(
  elements: readonly { readonly type?: SchemaElement['type'] }[],
): boolean {
  return elements.some(({ type }) => type === 'FLOAT' || type === 'DOUBLE');
}

export function holdsNegativeZero(stored: unknown): boolean {
  if (typeof stored !== 'object' || stored === null) return Object.is(stored, -0);
  if (ArrayBuffer.isView(stored)) return false;
  return Object.values(stored).some(holdsNegativeZero);
}
