import { writeText } from '../cell-text.js';
import { refuseMissingPackage } from '../../../platform/optional-package.js';
import { givesNoRows } from '../query-source.js';
import { connectionLost } from '../database-failure.js';
import type { QueryOptions, QueryRows, Relation } from '../dialect.js';
import { formOfKind, type TableColumn } from '../tables/table-reading.js';
import { postgresDrivers, type PostgresConnection, failureOf } from './connect.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import {
  qualifiedName,
  quoteName,
  type TableName,
  type ExistingTable,
} from '../tables/table-plan.js';
import type { Kind, KindName } from '../../rows/values/kinds.js';

export async function ask(
  connection: PostgresConnection,
  asking: QueryOptions<PostgresConnection>,
): Promise<QueryRows> {
  await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  const fields = await fieldsForCopy(connection, asking.asTable);
  if (!fields) return openCursor(connection, asking);
  return {
    columns: await describeFields(connection, fields),
    bytes: copyOut(connection, asking.asTable),
  };
}

export async function relationsNamed(
  connection: PostgresConnection,
  names: readonly string[],
): Promise<readonly Relation[]> {
  const found = await connection.query(
    `SELECT n.nspname, c.relname, c.oid::text, CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm')
        AND lower(c.relname) IN (SELECT json_array_elements_text($1::json))
     UNION ALL
     SELECT n.nspname, p.proname, 'function ' || p.oid, pg_get_functiondef(p.oid)
       FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
      WHERE p.prokind = 'f' AND l.lanname NOT IN ('c', 'internal') AND n.nspname <> 'information_schema'
        AND lower(p.proname) IN (SELECT json_array_elements_text($1::json))`,
    [JSON.stringify(names)],
  );
  return found.map(([schema, name, id, definition]) => ({
    schema: schema ?? '',
    name: name ?? '',
    id: id ?? '',
    definition: definition ?? undefined,
  }));
}

interface PostgresField {
  readonly name: string;
  readonly tableID: number;
  readonly columnID: number;
  readonly dataTypeID: number;
  readonly dataTypeModifier: number;
}

/** Describes the columns of an answer, with names for numbers. */
async function describeFields(
  connection: PostgresConnection,
  fields: readonly PostgresField[],
): Promise<readonly TableColumn[]> {
  const columns: TableColumn[] = [];
  for (const field of fields) {
    const [[type, table, column] = []] = await connection.query(
      `SELECT format_type($1::oid, $2::int4), a.attrelid::regclass::text, a.attname
         FROM (SELECT 1) AS one
         LEFT JOIN pg_attribute AS a ON a.attrelid = $3::oid AND a.attnum = $4::int4 AND a.attnum > 0`,
      [field.dataTypeID, field.dataTypeModifier, field.tableID, field.columnID],
    );
    columns.push({
      name: field.name,
      ...formOfKind(kindOfPostgresType(field.dataTypeID, field.dataTypeModifier)),
      type: type ?? 'text',
      ...(isUserType(field.dataTypeID) && { isUserType: true }),
      ...(table && column && { origin: { table: `${field.tableID}`, column } }),
    });
  }
  return columns;
}

/** The columns of a query that can be a subquery, as COPY needs; `undefined` for any other. Nothing is run yet. */
async function fieldsForCopy(
  connection: PostgresConnection,
  asTable: string,
): Promise<readonly PostgresField[] | undefined> {
  await connection.query('SAVEPOINT sluice');
  try {
    return await connection.describe(`SELECT * FROM ${asTable} AS sluice LIMIT 0`);
  } catch (error) {
    const { code } = failureOf(error);
    if (code !== syntaxError && code !== notSupported) throw error;
    await connection.query('ROLLBACK TO SAVEPOINT sluice');
    return undefined;
  }
}

const syntaxError = '42601';
const notSupported = '0A000';

async function* copyOut(
  connection: PostgresConnection,
  asTable: string,
): AsyncGenerator<Uint8Array> {
  const stream = connection.submit(connection.copy.to(`COPY ${asTable} TO STDOUT`));
  let rows = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    rows += countLines(piece);
    yield piece;
  }
  // The number of rows comes after them, and an error of the last one.
  await connection.query('COMMIT');
  const { rowCount } = stream as unknown as { readonly rowCount: number };
  if (rowCount !== rows) throw connectionLost();
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}

const rowsAtOnce = 1000;

type PrintedRow = readonly (string | null)[];

/** The used part of the driver's cursor, which has no types. */
interface Cursor {
  read(rows: number): Promise<readonly PrintedRow[]>;
  readonly _result: { readonly fields: readonly PostgresField[] };
}

/** Fetches the rows of a statement that COPY does not support, some at a time, on demand. */
async function openCursor(
  connection: PostgresConnection,
  { query, connect }: QueryOptions<PostgresConnection>,
): Promise<QueryRows> {
  const { default: QueryStream } = await import('pg-query-stream').catch(
    refuseMissingPackage(postgresDrivers),
  );
  const stream = connection.submit(
    new QueryStream(query, [], {
      rowMode: 'array',
      types: { getTypeParser: () => (text: string) => text },
    }),
  );
  // The stream itself does not end when it is destroyed and its connection is lost.
  const cursor = stream.cursor as Cursor;
  const read = async (): Promise<readonly PrintedRow[]> =>
    Promise.race([
      cursor.read(rowsAtOnce),
      connection.disconnected.then((error) => Promise.reject(error)),
    ]);
  // The columns are known with the first rows.
  const first = await read();
  const { fields } = cursor._result;
  if (fields.length === 0) throw givesNoRows();
  // The cursor keeps its own connection busy.
  const other = await connect();
  try {
    return { columns: await describeFields(other, fields), bytes: printRows(first, read) };
  } finally {
    await other.close();
  }
}

async function* printRows(
  first: readonly PrintedRow[],
  read: () => Promise<readonly PrintedRow[]>,
): AsyncGenerator<Uint8Array> {
  for (let rows = first; rows.length > 0; rows = await read()) {
    const lines = rows.map((row) => row.map(printCell).join('\t'));
    yield Buffer.from(`${lines.join('\n')}\n`);
  }
}

function printCell(cell: string | null): string {
  return cell === null ? '\\N' : writeText(cell);
}

export const nameParts = 2;

export async function locate(
  connection: PostgresConnection,
  parts: readonly string[],
): Promise<TableName> {
  const [first = '', second] = parts;
  if (second !== undefined) return { within: [first], table: second };
  const [[found] = []] = await connection.query(
    `SELECT coalesce((SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.oid = to_regclass($1)), current_schema())`,
    [quoteName(first)],
  );
  if (found) return { within: [found], table: first };
  throw new ConfigurationError(`no schema is named for the table ${first}`, { fault: 'missing' });
}

export async function findTable(
  connection: PostgresConnection,
  name: TableName,
): Promise<ExistingTable | undefined> {
  const [[oid, kind] = []] = await connection.query(
    `SELECT oid, relkind FROM pg_class WHERE oid = to_regclass($1)`,
    [qualifiedName(name)],
  );
  if (!oid) return undefined;
  const columns = await connection.query(
    `SELECT a.attname, t.typcategory = 'S', a.attgenerated <> '', t.typname = 'citext'
       FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
      WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    [oid],
  );
  const keys = await connection.query(
    `SELECT (SELECT json_agg(a.attname ORDER BY k.at)
               FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, at)
               JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
              WHERE k.at <= i.indnkeyatts)
       FROM pg_index i
      WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
        AND i.indexprs IS NULL AND i.indimmediate`,
    [oid],
  );
  const sharing = await connection.query(
    `WITH RECURSIVE above(id) AS (VALUES ($1::oid)
         UNION SELECT inhparent FROM pg_inherits JOIN above ON inhrelid = id),
       below(id) AS (VALUES ($1::oid)
         UNION SELECT inhrelid FROM pg_inherits JOIN below ON inhparent = id)
     SELECT id FROM above UNION SELECT id FROM below`,
    [oid],
  );
  return {
    id: oid,
    sharing: sharing.map(([id]) => id ?? ''),
    isTable: kind === 'r' || kind === 'p',
    columns: columns.map(([column, isText, isGenerated, isCaseless]) => ({
      name: column ?? '',
      isText: isText === 't',
      isPrinted: isText === 't',
      isGenerated: isGenerated === 't',
      isCaseless: isCaseless === 't',
    })),
    keys: keys.map(([names]) => JSON.parse(names ?? '[]') as readonly string[]),
  };
}

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
function kindOfPostgresType(oid: number, modifier: number): Kind {
  const name = kinds.get(oid) ?? 'text';
  if (name !== 'decimal' || modifier < 4) return { name };
  const scale = (modifier - 4) & 0x7_ff;
  // A negative scale counts digits before the point, which only this server has.
  return scale >= 0x4_00 ? { name } : { name, precision: (modifier - 4) >> 16, scale };
}

function isUserType(oid: number): boolean {
  return oid >= firstUserType;
}
