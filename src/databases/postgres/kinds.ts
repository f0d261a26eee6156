import type { ColumnKind } from '../column-kind.js';

/** Kinds of the types that come with the server, by their numbers, which never change. */
const kinds = new Map<number, ColumnKind>([
  [16, 'boolean'],
  [17, 'bytes'],
  [20, 'integer'],
  [21, 'integer'],
  [23, 'integer'],
  [26, 'integer'],
  [700, 'float'],
  [701, 'float'],
  [114, 'json'],
  [3802, 'json'],
  [1082, 'date'],
  [1083, 'time'],
  [1114, 'timestamp'],
  [1184, 'timestamptz'],
  [1700, 'decimal'],
  [2950, 'uuid'],
]);

/** Types that users make have numbers from here on. */
const firstOwnType = 16_384;

export function kindOfPostgresType(oid: number): ColumnKind {
  return kinds.get(oid) ?? 'text';
}

export function isOwnPostgresType(oid: number): boolean {
  return oid >= firstOwnType;
}

/** The types of new columns. */
export const types: Readonly<Record<ColumnKind, string>> = {
  text: 'text',
  integer: 'bigint',
  decimal: 'numeric',
  float: 'double precision',
  boolean: 'boolean',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  uuid: 'uuid',
  json: 'jsonb',
  bytes: 'bytea',
  any: 'text',
};
