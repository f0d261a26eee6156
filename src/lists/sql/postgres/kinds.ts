import type { ColumnFacts } from '../../rows/values/kind-tally.js';
import { secondDigits, type Kind, type KindName } from '../../rows/values/kinds.js';

/** Kinds of built-in types, by OID, which never changes. */
const kinds = new Map<number, KindName>([
  [16, 'boolean'],
  [17, 'binary'],
  [20, 'int64'],
  [21, 'int16'],
  [23, 'int32'],
  [26, 'uint32'],
  [700, 'float32'],
  [701, 'float64'],
  [114, 'json'],
  [3802, 'json'],
  [1082, 'date'],
  [1083, 'time'],
  [1114, 'timestamp'],
  [1184, 'timestamptz'],
  [1186, 'interval'],
  [1700, 'decimal'],
  [2950, 'uuid'],
]);

/** OIDs of user-defined types start here. */
const firstUserType = 16_384;

/** @param modifier the column's type modifier, such as its digits */
export function kindOfPostgresType(oid: number, modifier: number): Kind {
  const name = kinds.get(oid) ?? 'text';
  if (name !== 'decimal' || modifier < 4) return { name };
  const scale = (modifier - 4) & 0x7_ff;
  // A negative scale counts digits before the point, which only this server has.
  return scale >= 0x4_00 ? { name } : { name, precision: (modifier - 4) >> 16, scale };
}

export function isUserType(oid: number): boolean {
  return oid >= firstUserType;
}

/** The types of new columns; limits of the server are below. */
const types: Readonly<Record<KindName, string>> = {
  text: 'text',
  boolean: 'boolean',
  int8: 'smallint',
  int16: 'smallint',
  int32: 'integer',
  int64: 'bigint',
  uint8: 'smallint',
  uint16: 'integer',
  uint32: 'bigint',
  uint64: 'numeric(20,0)',
  decimal: 'numeric',
  float32: 'real',
  float64: 'double precision',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  interval: 'interval',
  uuid: 'uuid',
  // `jsonb` drops repeated keys and reorders the others.
  json: 'json',
  binary: 'bytea',
};

export function typeOf({ kind = { name: 'text' }, isSpecial }: ColumnFacts): string | undefined {
  switch (kind.name) {
    case 'decimal':
      return kind.precision === undefined || isSpecial
        ? 'numeric'
        : `numeric(${kind.precision},${kind.scale ?? 0})`;
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'interval':
      return isSpecial || secondDigits(kind) > 6 ? undefined : types[kind.name];
    default:
      return types[kind.name];
  }
}
