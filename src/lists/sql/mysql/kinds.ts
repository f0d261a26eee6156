import { decimalDigits, type ColumnFacts } from '../../rows/values/kind-tally.js';
import { integerForm, secondDigits, type Kind, type KindName } from '../../rows/values/kinds.js';
import type { MysqlField } from './connect.js';

/** The character set of byte columns. */
const binary = 63;
const [unsigned, zeroFilled] = [32, 64];

/** Kinds by the protocol's type numbers; integers are signed ones. */
const kinds = new Map<number, KindName>([
  [0, 'decimal'],
  [1, 'int8'],
  [2, 'int16'],
  [3, 'int32'],
  [4, 'float32'],
  [5, 'float64'],
  [7, 'timestamptz'],
  [8, 'int64'],
  [9, 'int32'],
  [10, 'date'],
  [11, 'time'],
  [12, 'timestamp'],
  [13, 'int16'],
  [245, 'json'],
  [246, 'decimal'],
]);

const mostSecondDigits = 6;

const geometry = 255;

const [tinyInteger, year, bits] = [1, 13, 16];

/** Whether a column is one of booleans: single bits, or small integers, among which others may be. */
export function isBooleanField({ columnType, columnLength }: MysqlField): boolean {
  return columnLength === 1 && (columnType === tinyInteger || columnType === bits);
}

/** Whether cells are numbers in the form of bytes. */
export function isBitField({ columnType }: MysqlField): boolean {
  return columnType === bits;
}

/** Whether cells are geometries, which have no text unless the query makes it. */
export function isGeometry(field: MysqlField): boolean {
  return field.columnType === geometry;
}

/** Fields that the driver's types omit. */
interface ExtendedField {
  readonly extendedFormat?: string;
  readonly extendedTypeName?: string;
}

/** `any` for booleans: each cell has its own kind. */
export function kindOfField(field: MysqlField): Kind | 'any' {
  if (isBooleanField(field)) return 'any';
  // MariaDB stores both as text, with a note beside the type.
  const { extendedFormat, extendedTypeName } = field as ExtendedField;
  if (extendedFormat === 'json') return { name: 'json' };
  if (extendedTypeName === 'uuid') return { name: 'uuid' };
  if (isBitField(field)) return { name: 'uint64' };
  // A postcode, a number of a customer: its zeros are part of it.
  if (hasFlag(field, zeroFilled) && field.columnType !== year) return { name: 'text' };
  const name = kinds.get(field.columnType ?? -1);
  if (name === undefined) return { name: field.characterSet === binary ? 'binary' : 'text' };
  if (name === 'decimal') return { name, ...digitsOf(field) };
  if (name === 'time' || name === 'timestamp' || name === 'timestamptz') {
    return field.decimals > mostSecondDigits ? { name } : { name, scale: field.decimals };
  }
  return { name: integerForm(name) && isUnsigned(field) ? (`u${name}` as KindName) : name };
}

/** The type of a column, where its kind is not enough. */
export function typeOfField(field: MysqlField): string {
  return isBooleanField(field) ? 'BOOLEAN' : '';
}

function isUnsigned(field: MysqlField): boolean {
  return hasFlag(field, unsigned);
}

function hasFlag({ flags }: MysqlField, flag: number): boolean {
  return typeof flags === 'number' && (flags & flag) !== 0;
}

function digitsOf(field: MysqlField): { readonly precision: number; readonly scale: number } {
  const { columnLength = 0, decimals } = field;
  const precision = columnLength - (decimals > 0 ? 1 : 0) - (isUnsigned(field) ? 0 : 1);
  return { precision, scale: decimals };
}

/** The types of new columns; limits of the server are below. */
const types: Readonly<Record<Exclude<KindName, 'interval'>, string>> = {
  text: 'LONGTEXT',
  boolean: 'BOOLEAN',
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INT',
  int64: 'BIGINT',
  uint8: 'TINYINT UNSIGNED',
  uint16: 'SMALLINT UNSIGNED',
  uint32: 'INT UNSIGNED',
  uint64: 'BIGINT UNSIGNED',
  decimal: 'DECIMAL',
  // Its own smaller type prints fewer digits than it holds.
  float32: 'DOUBLE',
  float64: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'DATETIME',
  timestamptz: 'TIMESTAMP',
  uuid: 'CHAR(36)',
  json: 'JSON',
  binary: 'LONGBLOB',
};

/** Limits of a decimal's digits: in all, and after the point. */
const [mostDigits, mostScale] = [65, 30];

export function typeOf(facts: ColumnFacts): string | undefined {
  const { kind = { name: 'text' }, isSpecial, isBeyond31Bits } = facts;
  const { name } = kind;
  // Zero dates, hours beyond a day, NaN: the server would refuse them when they are written.
  if (isSpecial || name === 'interval') return undefined;
  switch (name) {
    case 'decimal': {
      const { precision, scale } = decimalDigits(facts);
      const isKept = precision <= mostDigits && scale <= mostScale;
      return isKept ? `DECIMAL(${precision},${scale})` : undefined;
    }
    case 'time':
    case 'timestamp':
    case 'timestamptz': {
      const digits = secondDigits(kind);
      const isMoment = name === 'timestamptz';
      // Its timestamps count seconds in 31 bits.
      if (digits > mostSecondDigits || (isMoment && isBeyond31Bits)) return undefined;
      return `${types[name]}(${digits})${isMoment ? ' NULL DEFAULT NULL' : ''}`;
    }
    default:
      return types[name];
  }
}

/** A type that an index accepts: long text cannot be indexed. */
export function keyTypeOf(type: string): string {
  if (type.endsWith(' NULL DEFAULT NULL'))
    return type.replace(' NULL ', ' NOT NULL ').replace('DEFAULT NULL', 'DEFAULT 0');
  if (type === 'LONGTEXT') return 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
  return type === 'LONGBLOB' ? 'VARBINARY(255)' : type;
}
