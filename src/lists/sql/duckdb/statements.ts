import { parseJson } from '../../../platform/json.js';
import type { OpenSinkOptions } from '../../rows/sink.js';
import { bufferOf, printValue } from '../../rows/values/print-value.js';
import type { Staging, Statements } from '../dialect.js';
import { RefusedRows } from '../database-failure.js';
import {
  quoteName,
  type TableName,
  type NewColumn,
  type TablePlan,
  type ExistingTable,
} from '../tables/table-plan.js';
import { stageValues, type CellValue } from '../tables/row-values.js';
import { rowsAtOnce, type DuckdbConnection } from './connect.js';
import { cellOf, duckdbInterval } from './kinds.js';

/** The rows as text: only the database itself decides what it accepts for a type. */
const texts = 'sluice_texts';
/** The same with the table's own types. */
const cells = 'sluice_staging';

export const statements: Statements = {
  quote: (name) => quoteName(name),
  ignoresCase: true,
  parameter: () => '?',
  staging: `temp.${cells}`,
  rowNumber: 'sluice_row',
  stagedName: (_, at) => `c${at}`,
  addsOneColumn: true,
  // A key's index must fit in memory: paid results must not fail on our limit.
  begin: ['RESET max_memory', 'BEGIN'],
  // Writing an indexed row deletes and recreates it.
  skipsSame: ['update', 'upsert'],
  // Within a row a column's collation does not apply: case counts.
  isSame: (cell, other) => `row(${cell}) IS NOT DISTINCT FROM row(${other})`,
  markers: {
    targetOf: ({ table }) => table,
    definition:
      'target VARCHAR PRIMARY KEY, run VARCHAR NOT NULL, digest VARCHAR NOT NULL, applied BIGINT NOT NULL, rows BIGINT NOT NULL, written_at TIMESTAMP WITH TIME ZONE NOT NULL',
    rowCount: 'rows',
    replace: 'INSERT OR REPLACE',
    now: 'now()',
  },
};

export async function stage(
  connection: DuckdbConnection,
  plan: TablePlan,
  opening: OpenSinkOptions,
): Promise<Staging> {
  const { columns } = plan;
  const names = columns.map(({ name }, at) => statements.stagedName(name, at));
  await connection.query(
    `CREATE TEMP TABLE ${texts} (${names.map((name) => `${name} VARCHAR`).join(', ')})`,
  );
  const typed = columns.map(({ type }, at) => `${cellOf(`c${at}`, type)} AS c${at}`);
  await connection.query(
    `CREATE TEMP VIEW ${cells} AS SELECT rowid AS sluice_row, ${typed.join(', ')} FROM temp.${texts}`,
  );
  const appender = await connection.append(texts);
  let waiting: (string | null)[][] = columns.map(() => []);
  const send = (): void => {
    if (waiting[0]?.length === 0) return;
    appender.add(waiting);
    waiting = columns.map(() => []);
  };
  const staged = stageValues(
    plan,
    opening,
    (values) => {
      for (const [at, { type }] of columns.entries()) {
        waiting[at]?.push(textOfValue(values[at] ?? null, type));
      }
      if (waiting[0]?.length === rowsAtOnce) send();
    },
    () => {
      send();
      appender.end();
    },
  );
  return { ...staged, prepare: () => refuseMisfits(connection, columns) };
}

async function refuseMisfits(
  connection: DuckdbConnection,
  columns: readonly NewColumn[],
): Promise<void> {
  const firsts = columns.map(
    ({ type }, at) =>
      `min(rowid) FILTER (c${at} IS NOT NULL AND ${cellOf(`c${at}`, type, 'TRY_CAST')} IS NULL)`,
  );
  const [found = []] = await connection.query(`SELECT ${firsts.join(', ')} FROM temp.${texts}`);
  const at = found.findIndex((row) => row !== null);
  if (at === -1) return;
  const { name = '', type = '' } = columns[at] ?? {};
  throw new RefusedRows('a cell does not fit', {
    kind: 'misfit',
    column: name,
    row: Number(found[at]) + 1,
    detail: `it takes ${type}`,
  });
}

function textOfValue(value: CellValue, type: string): string | null {
  if (value === null) return null;
  if (type === 'BLOB') return bytesOf(value).toString('hex');
  if (value instanceof Uint8Array) return `\\x${bytesOf(value).toString('hex')}`;
  if (type === 'JSON' && typeof value === 'string' && parseJson(value) === undefined)
    return JSON.stringify(value);
  return type === 'INTERVAL' ? duckdbInterval(String(value)) : (printValue(value) ?? null);
}

function bytesOf(value: Exclude<CellValue, null>): Buffer {
  return value instanceof Uint8Array ? bufferOf(value) : Buffer.from(String(value));
}

export const nameParts = 2;

/** With its database and schema: a file may be named like a schema. */
export async function locate(
  connection: DuckdbConnection,
  [first = '', second]: readonly string[],
): Promise<TableName> {
  const [[own, schema] = []] = await connection.query(
    'SELECT current_database(), current_schema()',
  );
  return second === undefined
    ? { within: [String(own), String(schema)], table: first }
    : { within: [String(own), first], table: second };
}

const here = 'database_name = current_database() AND lower(schema_name) = lower(?)';

/** Names are not case-sensitive there. */
export async function findTable(
  connection: DuckdbConnection,
  { within: [, schema = ''], table }: TableName,
): Promise<ExistingTable | undefined> {
  const ask = (columns: string, from: string, name = 'table_name') =>
    connection.query(`SELECT ${columns} FROM ${from} WHERE ${here} AND lower(${name}) = lower(?)`, [
      schema,
      table,
    ]);
  const [[found] = []] = await ask('table_name', 'duckdb_tables()');
  const [[view] = []] = await ask('view_name', 'duckdb_views()', 'view_name');
  if (found === undefined && view === undefined) return undefined;
  const columns = await ask('column_name, data_type', 'duckdb_columns()');
  const keys = await ask(
    'constraint_column_names',
    `(FROM duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE'))`,
  );
  const indexes = await ask('expressions', '(FROM duckdb_indexes() WHERE is_unique)');
  return {
    id: `${schema}.${String(found ?? view)}`.toLowerCase(),
    isTable: found !== undefined,
    columns: columns.map(([name, type]) => ({
      name: String(name),
      type: String(type),
      isText: type === 'VARCHAR' || type === 'BLOB',
      isPrinted: type === 'VARCHAR',
      isGenerated: false,
    })),
    keys: [
      ...keys.map(([names]) => (Array.isArray(names) ? names.map(String) : [])),
      ...indexes.map(([expressions]) => indexColumns(String(expressions))),
    ],
  };
}

/** `[id, "My column"]`; expressions are ignored. */
function indexColumns(expressions: string): readonly string[] {
  return [...expressions.slice(1, -1).matchAll(/"((?:[^"]|"")*)"|([^,\s"]+)/g)].map(
    ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
  );
}
