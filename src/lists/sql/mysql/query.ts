import { ConfigurationError } from '../../../platform/errors/errors.js';
import { bufferOf } from '../../rows/values/print-value.js';
import { writeAny, writeValue } from '../cell-text.js';
import { givesNoRows, derivedNames } from '../query-source.js';
import type { QueryOptions, QueryRows, Relation } from '../dialect.js';
import type { MysqlConnection, MysqlField } from './connect.js';
import { formOfKind } from '../tables/table-reading.js';
import {
  hasEmptyMember,
  type TableName,
  type ExistingTable,
  type RunMarker,
} from '../tables/table-plan.js';
import { integerForm, type Kind, type KindName } from '../../rows/values/kinds.js';
import { mostSecondDigits } from './statements.js';

/** Most rows waiting in this process. */
const rowsAtOnce = 500;

export async function ask(
  connection: MysqlConnection,
  { query, signal }: QueryOptions<MysqlConnection>,
): Promise<QueryRows> {
  // For the session: a statement that ends the transaction must not change anything either.
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  const asked = connection.stream(query);
  const fields = new Promise<readonly MysqlField[]>((resolve, reject) => {
    const refuseNone = (): void => {
      reject(givesNoRows());
    };
    asked.on('fields', (found: readonly MysqlField[] | undefined) => {
      if (found) resolve(found);
      else refuseNone();
    });
    asked.on('error', reject);
    asked.on('end', refuseNone);
  });
  const rows = asked.stream({ highWaterMark: rowsAtOnce, ...(signal && { signal }) });
  // The reader gets it; the driver leaves a stream waiting when its connection is lost.
  rows.on('error', () => undefined);
  void connection.disconnected.then((error) => rows.destroy(error));
  const found = await Promise.race([
    fields,
    connection.disconnected.then((error) => Promise.reject(error)),
  ]);
  refuseGeometry(found);
  // MariaDB takes the name of a subquery for that of a table.
  const derived = derivedNames(query);
  return {
    columns: found.map((field) => ({
      name: field.name,
      ...formOfKind(kindOfField(field)),
      type: typeOfField(field),
      ...(field.orgTable &&
        !derived.has(field.orgTable.toLowerCase()) && {
          origin: { table: `${field.schema ?? field.db}.${field.orgTable}`, column: field.orgName },
        }),
    })),
    bytes: printRows(rows as AsyncIterable<readonly unknown[]>, found),
  };
}

export async function relationsNamed(
  connection: MysqlConnection,
  names: readonly string[],
): Promise<readonly Relation[]> {
  const found = await connection.query(
    `SELECT t.TABLE_SCHEMA, t.TABLE_NAME, IF(t.TABLE_TYPE = 'VIEW', COALESCE(v.VIEW_DEFINITION, ''), NULL)
       FROM information_schema.TABLES t
       LEFT JOIN information_schema.VIEWS v ON v.TABLE_SCHEMA = t.TABLE_SCHEMA AND v.TABLE_NAME = t.TABLE_NAME
      WHERE t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW') AND LOWER(t.TABLE_NAME) IN (?)`,
    [names],
  );
  return found.map(([schema, name, definition]) => ({
    schema: String(schema),
    name: String(name),
    id: `${String(schema)}.${String(name)}`,
    definition: typeof definition === 'string' ? definition : undefined,
  }));
}

function refuseGeometry(fields: readonly MysqlField[]): void {
  const found = fields.find(isGeometry);
  if (!found) return;
  const name = JSON.stringify(found.name);
  throw new ConfigurationError(
    `the column ${name} holds places or shapes, which no output has a form for: ask for ST_AsText(${found.name}) in the query, or leave it out`,
    { column: found.name, fault: 'unsupported' },
  );
}

async function* printRows(
  rows: AsyncIterable<readonly unknown[]>,
  fields: readonly MysqlField[],
): AsyncGenerator<Uint8Array> {
  const printers = fields.map(printerFor);
  let lines: string[] = [];
  for await (const row of rows) {
    lines.push(`${row.map((cell, at) => printers[at]?.(cell) ?? '').join('\t')}\n`);
    if (lines.length < rowsAtOnce) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

function printerFor(field: MysqlField): (cell: unknown) => string {
  if (isBooleanField(field)) return (cell) => writeAny(booleanOf(cell));
  if (isBitField(field)) {
    return (cell) =>
      writeValue(cell instanceof Uint8Array ? BigInt(`0x${bufferOf(cell).toString('hex')}`) : cell);
  }
  const kind = kindOfField(field);
  if (kind !== 'any' && kind.name === 'timestamptz') {
    // A zero date is not a moment, and has no zone.
    return (cell) =>
      writeValue(typeof cell === 'string' && !cell.startsWith('0000-') ? `${cell}+00` : cell);
  }
  return writeValue;
}

/** Also of a single bit, which is a byte. */
function booleanOf(cell: unknown): boolean | number | null {
  if (cell === null) return null;
  const number = Number(cell instanceof Uint8Array ? cell[0] : cell);
  return number === 0 || number === 1 ? number === 1 : number;
}

export const nameParts = 2;

export async function locate(
  connection: MysqlConnection,
  parts: readonly string[],
): Promise<TableName> {
  const [first = '', second] = parts;
  if (second !== undefined) return { within: [first], table: second };
  const [[schema] = []] = await connection.query('SELECT DATABASE()');
  if (typeof schema === 'string') return { within: [schema], table: first };
  throw new ConfigurationError(`no database is named for the table ${first}`, { fault: 'missing' });
}

export async function findTable(
  connection: MysqlConnection,
  { within: [schema = ''], table }: TableName,
): Promise<ExistingTable | undefined> {
  const [found] = await connection.query(
    'SELECT TABLE_NAME, ENGINE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
    [schema, table],
  );
  if (!found) return undefined;
  const [name, engine, comment] = found;
  const columns = await connection.query(
    'SELECT COLUMN_NAME, DATA_TYPE, EXTRA, COLLATION_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION',
    [schema, table],
  );
  const parts = await connection.query(
    'SELECT INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX',
    [schema, table],
  );
  const keys = new Map<string, string[]>();
  for (const [index, column] of parts) {
    keys.set(String(index), [...(keys.get(String(index)) ?? []), String(column)]);
  }
  // Only such a table is transactional.
  const isTable = String(engine).toLowerCase() === 'innodb';
  return {
    id: `${schema}.${String(name)}`,
    isTable,
    engine: isTable || typeof engine !== 'string' ? undefined : engine,
    columns: columns.map(([column, type, extra, collation, whole]) => ({
      name: String(column),
      isText: /char|text|blob|binary|set/i.test(String(type)) || hasEmptyMember(String(whole)),
      isPrinted: /char|text|enum|set/i.test(String(type)),
      isGenerated: /(?:virtual|stored) generated/i.test(String(extra)),
      isCaseless: /_ci$/i.test(String(collation)),
      isRounded: /^float$/i.test(String(type)),
    })),
    keys: [...keys.values()],
    marker: markerOf(String(comment)),
  };
}

function markerOf(comment: string): RunMarker | undefined {
  const made = /^sluice run (\w+) (\w+) (\d+) ([\w,]*)$/.exec(comment);
  if (!made) return undefined;
  const [, run = '', digest = '', rows, written = ''] = made;
  return { run, digest, applied: Number(rows), rows: Number(rows), written };
}

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

const geometry = 255;

const [tinyInteger, year, bits] = [1, 13, 16];

/** Whether a column is one of booleans: single bits, or small integers, among which others may be. */
function isBooleanField({ columnType, columnLength }: MysqlField): boolean {
  return columnLength === 1 && (columnType === tinyInteger || columnType === bits);
}

function isBitField({ columnType }: MysqlField): boolean {
  return columnType === bits;
}

/** Whether cells are geometries, which have no text unless the query makes it. */
function isGeometry(field: MysqlField): boolean {
  return field.columnType === geometry;
}

/** Fields that the driver's types omit. */
interface ExtendedField {
  readonly extendedFormat?: string;
  readonly extendedTypeName?: string;
}

/** `any` for booleans: each cell has its own kind. */
function kindOfField(field: MysqlField): Kind | 'any' {
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

function typeOfField(field: MysqlField): string {
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
