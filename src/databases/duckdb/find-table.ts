import type { TableThere } from '../plan-table.js';
import { quoteName } from '../quote-name.js';
import { markerOfRow, markersTable, type RunMarker } from '../run-marker.js';
import type { DuckdbDatabase } from './open-duckdb.js';

/** A table's name, with all that it stands in: a file may be called what a schema is called. */
export interface DuckdbName {
  readonly database: string;
  readonly schema: string;
  readonly table: string;
}

/** A table with the types of its columns, by their names. */
export interface DuckdbTable extends TableThere {
  readonly types: ReadonlyMap<string, string>;
}

export async function qualifyName(
  database: DuckdbDatabase,
  [first = '', second]: readonly string[],
): Promise<DuckdbName> {
  const [[own, schema] = []] = await database.rows('SELECT current_database(), current_schema()');
  return second === undefined
    ? { database: String(own), schema: String(schema), table: first }
    : { database: String(own), schema: first, table: second };
}

export function quoteTable({ database, schema, table }: DuckdbName): string {
  return [database, schema, table].map(quoteName).join('.');
}

const here = 'database_name = current_database() AND lower(schema_name) = lower(?)';

/** Names are the same there in capitals. */
export async function findTable(
  database: DuckdbDatabase,
  { schema, table }: DuckdbName,
): Promise<DuckdbTable | undefined> {
  const ask = (columns: string, from: string, name = 'table_name') =>
    database.rows(`SELECT ${columns} FROM ${from} WHERE ${here} AND lower(${name}) = lower(?)`, [
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
      isText: type === 'VARCHAR' || type === 'BLOB',
      isGenerated: false,
    })),
    types: new Map(columns.map(([name, type]) => [String(name), String(type)])),
    keys: [
      ...keys.map(([names]) => (Array.isArray(names) ? names.map(String) : [])),
      ...indexes.map(([expressions]) => indexColumns(String(expressions))),
    ],
  };
}

/** `[id, "My column"]`; of expressions that are no columns nothing can be told. */
function indexColumns(expressions: string): readonly string[] {
  return [...expressions.slice(1, -1).matchAll(/"((?:[^"]|"")*)"|([^,\s"]+)/g)].map(
    ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
  );
}

function markersOf(target: DuckdbName): DuckdbName {
  return { ...target, table: markersTable };
}

export async function readMarker(
  database: DuckdbDatabase,
  target: DuckdbName,
): Promise<RunMarker | undefined> {
  if (!(await findTable(database, markersOf(target)))) return undefined;
  const [found] = await database.rows(
    `SELECT run, digest, applied, rows FROM ${quoteTable(markersOf(target))} WHERE target = ?`,
    [target.table],
  );
  return markerOfRow(found);
}

export async function writeMarker(
  database: DuckdbDatabase,
  target: DuckdbName,
  { run, digest, applied, rows }: RunMarker,
): Promise<void> {
  const markers = quoteTable(markersOf(target));
  await database.run(
    `CREATE TABLE IF NOT EXISTS ${markers} (target VARCHAR PRIMARY KEY, run VARCHAR NOT NULL, digest VARCHAR NOT NULL, applied BIGINT NOT NULL, rows BIGINT NOT NULL, written_at TIMESTAMP WITH TIME ZONE NOT NULL)`,
  );
  await database.run(`INSERT OR REPLACE INTO ${markers} VALUES (?, ?, ?, ?, ?, now())`, [
    target.table,
    run,
    digest,
    applied,
    rows,
  ]);
}
