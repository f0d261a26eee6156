import type { ColumnKind } from '../column-kind.js';

/** The types of new columns. */
export const types: Readonly<Record<ColumnKind, string>> = {
  text: 'TEXT',
  integer: 'INTEGER',
  decimal: 'NUMERIC',
  float: 'REAL',
  boolean: 'BOOLEAN',
  date: 'DATE',
  time: 'TEXT',
  timestamp: 'DATETIME',
  timestamptz: 'DATETIME',
  uuid: 'TEXT',
  // Any other type would make a number of a text that looks like one.
  json: 'TEXT',
  bytes: 'BLOB',
  // Without a type a cell keeps its own.
  any: '',
};

/** The same in a STRICT table, which takes a few types and no other. */
export const strictTypes: Readonly<Record<ColumnKind, string>> = {
  ...types,
  decimal: 'TEXT',
  boolean: 'INTEGER',
  date: 'TEXT',
  timestamp: 'TEXT',
  timestamptz: 'TEXT',
  any: 'ANY',
};

/** Whether a declared type is one of booleans, which SQLite has none of: they are 0 and 1. */
export function isBooleanType(type: string): boolean {
  return /^bool(?:ean)?$/i.test(type);
}

/** Whether a column of a declared type keeps an empty text for one (its affinity is TEXT, or none). */
export function isTextType(type: string): boolean {
  return /char|clob|text|blob/i.test(type) || type === '';
}

/** A value as SQLite takes it. */
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
