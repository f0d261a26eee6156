import type { ColumnKind } from '../column-kind.js';
import type { MysqlField } from './connect.js';

/** The character set of columns that hold bytes. */
const binary = 63;
const unsigned = 32;

/** Kinds by the protocol's numbers of types. */
const kinds = new Map<number, ColumnKind>([
  [0, 'decimal'],
  [1, 'integer'],
  [2, 'integer'],
  [3, 'integer'],
  [4, 'float'],
  [5, 'float'],
  [7, 'timestamptz'],
  [8, 'integer'],
  [9, 'integer'],
  [10, 'date'],
  [11, 'time'],
  [12, 'timestamp'],
  [13, 'integer'],
  [16, 'bytes'],
  [245, 'json'],
  [246, 'decimal'],
]);

/** Whether a column is one of booleans, which are small integers there: others may stand in it too. */
export function isBooleanField(field: MysqlField): boolean {
  return field.columnType === 1 && field.columnLength === 1;
}

export function kindOfField(field: MysqlField): ColumnKind {
  if (isBooleanField(field)) return 'any';
  const kind = kinds.get(field.columnType ?? -1);
  if (kind !== undefined) return kind;
  return field.characterSet === binary ? 'bytes' : 'text';
}

/** The type of a column, where its kind does not say all of it. */
export function typeOfField(field: MysqlField): string {
  if (isBooleanField(field)) return 'BOOLEAN';
  if (kindOfField(field) !== 'decimal') return '';
  const { columnLength = 0, decimals, flags } = field;
  const isUnsigned = typeof flags === 'number' && (flags & unsigned) !== 0;
  const digits = columnLength - (decimals > 0 ? 1 : 0) - (isUnsigned ? 0 : 1);
  return `DECIMAL(${digits},${decimals})`;
}

/** The types of new columns. */
export const types: Readonly<Record<ColumnKind, string>> = {
  text: 'LONGTEXT',
  integer: 'BIGINT',
  decimal: 'DECIMAL(65,30)',
  float: 'DOUBLE',
  boolean: 'BOOLEAN',
  date: 'DATE',
  time: 'TIME(6)',
  timestamp: 'DATETIME(6)',
  timestamptz: 'DATETIME(6)',
  uuid: 'CHAR(36)',
  json: 'JSON',
  bytes: 'LONGBLOB',
  any: 'LONGTEXT',
};

/** A type that an index takes: a long text has no place in one. */
export function keyTypeOf(type: string): string {
  if (type === 'LONGTEXT') return 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
  return type === 'LONGBLOB' ? 'VARBINARY(255)' : type;
}
