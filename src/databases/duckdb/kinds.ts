import type { ColumnKind } from '../column-kind.js';

const kinds = new Map<string, ColumnKind>([
  ['BOOLEAN', 'boolean'],
  ['TINYINT', 'integer'],
  ['SMALLINT', 'integer'],
  ['INTEGER', 'integer'],
  ['BIGINT', 'integer'],
  ['HUGEINT', 'integer'],
  ['UTINYINT', 'integer'],
  ['USMALLINT', 'integer'],
  ['UINTEGER', 'integer'],
  ['UBIGINT', 'integer'],
  ['UHUGEINT', 'decimal'],
  ['BIGNUM', 'decimal'],
  ['FLOAT', 'float'],
  ['DOUBLE', 'float'],
  ['DATE', 'date'],
  ['TIME', 'time'],
  ['TIME_NS', 'time'],
  ['TIMESTAMP', 'timestamp'],
  ['TIMESTAMP_S', 'timestamp'],
  ['TIMESTAMP_MS', 'timestamp'],
  ['TIMESTAMP_NS', 'timestamp'],
  ['TIMESTAMP WITH TIME ZONE', 'timestamptz'],
  ['UUID', 'uuid'],
  ['BLOB', 'bytes'],
  ['JSON', 'json'],
  ['VARIANT', 'json'],
]);

/** The kind of a column, by its type as the database prints it. */
export function kindOfDuckdbType(type: string): ColumnKind {
  if (isNested(type)) return 'json';
  if (type.startsWith('DECIMAL(')) return 'decimal';
  return kinds.get(type) ?? 'text';
}

/** Whether cells are made of others: lists, structures, maps. */
function isNested(type: string): boolean {
  return /\]$|^(?:STRUCT|MAP|UNION)\(/.test(type);
}

/** A column's cells as text in the form of `cell-text.ts`, but for what is special there. */
export function textOf(column: string, type: string): string {
  switch (kindOfDuckdbType(type)) {
    case 'boolean':
      return `CASE WHEN ${column} THEN 't' WHEN NOT ${column} THEN 'f' END`;
    case 'bytes':
      return `'\\x' || lower(hex(${column}))`;
    case 'float':
      return `CASE CAST(${column} AS VARCHAR) WHEN 'inf' THEN 'Infinity' WHEN '-inf' THEN '-Infinity' WHEN 'nan' THEN 'NaN' ELSE CAST(${column} AS VARCHAR) END`;
    case 'json':
      return type === 'JSON' ? `CAST(${column} AS VARCHAR)` : `CAST(to_json(${column}) AS VARCHAR)`;
    default:
      return `CAST(${column} AS VARCHAR)`;
  }
}

/**
 * What makes of a staged text a cell of a type.
 *
 * @param cast `TRY_CAST` gives null for what does not fit
 */
export function cellOf(staged: string, type: string, cast: 'CAST' | 'TRY_CAST' = 'CAST'): string {
  if (type === 'VARCHAR') return staged;
  if (type === 'BLOB') return `unhex(${staged})`;
  const isJson = isNested(type) || type === 'VARIANT';
  return `${cast}(${isJson ? `${cast}(${staged} AS JSON)` : staged} AS ${type})`;
}

/** The types of new columns. */
export const types: Readonly<Record<ColumnKind, string>> = {
  text: 'VARCHAR',
  integer: 'BIGINT',
  decimal: 'DECIMAL(38,10)',
  float: 'DOUBLE',
  boolean: 'BOOLEAN',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  uuid: 'UUID',
  json: 'JSON',
  bytes: 'BLOB',
  any: 'VARCHAR',
};
