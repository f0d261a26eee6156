import { parseInterval, printInterval } from '../../rows/values/civil-time.js';
import { decimalDigits, type ColumnFacts } from '../../rows/values/kind-tally.js';
import { secondDigits, type Kind, type KindName } from '../../rows/values/kinds.js';

/** The types of new columns; limits of the database are below. */
const types: Readonly<Record<KindName, string>> = {
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INTEGER',
  int64: 'BIGINT',
  uint8: 'UTINYINT',
  uint16: 'USMALLINT',
  uint32: 'UINTEGER',
  uint64: 'UBIGINT',
  decimal: 'DECIMAL',
  float32: 'FLOAT',
  float64: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  interval: 'INTERVAL',
  uuid: 'UUID',
  json: 'JSON',
  binary: 'BLOB',
};

const kinds = new Map<string, Kind>([
  ...(Object.entries(types) as [KindName, string][]).map(
    ([name, type]) => [type, { name }] as const,
  ),
  // Only their cells show how many digits they need.
  ['HUGEINT', { name: 'decimal', scale: 0 }],
  ['UHUGEINT', { name: 'decimal', scale: 0 }],
  ['BIGNUM', { name: 'decimal', scale: 0 }],
  ['TIME_NS', { name: 'time', scale: 9 }],
  ['TIMESTAMP_S', { name: 'timestamp', scale: 0 }],
  ['TIMESTAMP_MS', { name: 'timestamp', scale: 3 }],
  ['TIMESTAMP_NS', { name: 'timestamp', scale: 9 }],
  ['VARIANT', { name: 'json' }],
]);

/** The kind of a column by its printed type. */
export function kindOfDuckdbType(type: string): Kind {
  if (isNested(type)) return { name: 'json' };
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (precision !== undefined) {
    return { name: 'decimal', precision: Number(precision), scale: Number(scale) };
  }
  return kinds.get(type) ?? { name: 'text' };
}

/** Whether cells are nested: lists, structures, maps. */
function isNested(type: string): boolean {
  return /\]$|^(?:STRUCT|MAP|UNION)\(/.test(type);
}

/** A column's cells as text in the format of `cell-text.ts`, except for special values. */
export function textOf(column: string, type: string): string {
  switch (kindOfDuckdbType(type).name) {
    case 'boolean':
      return `CASE WHEN ${column} THEN 't' WHEN NOT ${column} THEN 'f' END`;
    case 'binary':
      return `'\\x' || lower(hex(${column}))`;
    case 'float32':
    case 'float64':
      return `CASE CAST(${column} AS VARCHAR) WHEN 'inf' THEN 'Infinity' WHEN '-inf' THEN '-Infinity' WHEN 'nan' THEN 'NaN' ELSE CAST(${column} AS VARCHAR) END`;
    case 'text':
      // The driver takes a byte-order mark in front of a text away.
      return `CASE WHEN starts_with(CAST(${column} AS VARCHAR), '\ufeff') THEN '\ufeff' ELSE '' END || CAST(${column} AS VARCHAR)`;
    case 'json':
      return type === 'JSON' ? `CAST(${column} AS VARCHAR)` : `CAST(to_json(${column}) AS VARCHAR)`;
    default:
      return `CAST(${column} AS VARCHAR)`;
  }
}

/**
 * Casts a staged text to a type.
 *
 * @param cast `TRY_CAST` gives null for a text that does not fit
 */
export function cellOf(staged: string, type: string, cast: 'CAST' | 'TRY_CAST' = 'CAST'): string {
  if (type === 'VARCHAR') return staged;
  if (type === 'BLOB') return `unhex(${staged})`;
  if (!isNested(type) && type !== 'VARIANT') return `${cast}(${staged} AS ${type})`;
  const json = `${cast}(${staged} AS JSON)`;
  // JSON has bytes as text with escapes, which only a cast of text reads.
  const texts = type.replaceAll(/\bBLOB\b/g, 'VARCHAR');
  return `${cast}(${texts === type ? json : `${cast}(${json} AS ${texts})`} AS ${type})`;
}

/** Converts a printed duration to ISO 8601. */
export function isoInterval(printed: string): string {
  const words = printed.split(' ');
  const count = (unit: string): number => {
    const at = words.findIndex((word) => word === unit || word === `${unit}s`);
    return at > 0 ? Number(words[at - 1]) : 0;
  };
  const [, sign, hours = 0, minutes = 0, seconds = 0, fraction = ''] =
    /^(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?$/.exec(words.at(-1) ?? '') ?? [];
  const micros =
    (BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(seconds)) * 1_000_000n +
    BigInt(fraction.padEnd(6, '0'));
  return printInterval({
    months: count('year') * 12 + count('month'),
    days: count('day'),
    micros: sign === '-' ? -micros : micros,
  });
}

/** Converts an ISO 8601 duration to the database's format. */
export function duckdbInterval(text: string): string {
  const found = parseInterval(text);
  if (!found) return text;
  const { months, days, micros } = found;
  return `${months} months ${days} days ${micros} microseconds`;
}

const mostDigits = 38;

export function typeOf(facts: ColumnFacts): string | undefined {
  const { kind = { name: 'text' }, isSpecial } = facts;
  const { name } = kind;
  const isFine = secondDigits(kind) > 6;
  switch (name) {
    case 'decimal': {
      const { precision, scale } = decimalDigits(facts);
      return precision > mostDigits || isSpecial ? undefined : `DECIMAL(${precision},${scale})`;
    }
    case 'time':
    case 'timestamp':
      if (isSpecial) return undefined;
      return isFine ? `${name.toUpperCase()}_NS` : types[name];
    case 'date':
    case 'interval':
      return isSpecial ? undefined : types[name];
    case 'timestamptz':
      return isSpecial || isFine ? undefined : types[name];
    default:
      return types[name];
  }
}
