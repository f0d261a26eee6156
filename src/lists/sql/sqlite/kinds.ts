import type { ColumnFacts } from '../../rows/values/kind-tally.js';
import type { Kind, KindName } from '../../rows/values/kinds.js';

/**
 * The types of new columns. A date is text there; any numeric type would convert text that looks like a
 * number, and drop its zeros.
 */
const types: Readonly<Partial<Record<KindName, string>>> = {
  text: 'TEXT',
  boolean: 'BOOLEAN',
  int8: 'INTEGER',
  int16: 'INTEGER',
  int32: 'INTEGER',
  int64: 'INTEGER',
  uint8: 'INTEGER',
  uint16: 'INTEGER',
  uint32: 'INTEGER',
  float32: 'REAL',
  float64: 'REAL',
  date: 'DATE',
  timestamp: 'DATETIME',
  binary: 'BLOB',
};

export function typeOf({ kind = { name: 'text' }, isSpecial }: ColumnFacts): string | undefined {
  // NaN would become null there.
  return isSpecial ? undefined : types[kind.name];
}

/** The type of a new column in a STRICT table, which accepts only a few types. */
export function strictTypeOf(kind: Kind): string {
  if (kind.name === 'boolean') return 'INTEGER';
  const type = types[kind.name] ?? 'TEXT';
  return ['INTEGER', 'REAL', 'BLOB'].includes(type) ? type : 'TEXT';
}

/** Whether a declared type means booleans, which SQLite stores as 0 and 1. */
export function isBooleanType(type: string): boolean {
  return /^bool(?:ean)?$/i.test(type);
}

/** Whether a column of a declared type keeps an empty text (affinity TEXT or none). */
export function isTextType(type: string): boolean {
  return /char|clob|text|blob/i.test(type) || type === '';
}

export function sqliteValue(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'boolean':
      return value ? 1n : 0n;
    default:
      return value;
  }
}
