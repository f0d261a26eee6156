import type { TableName } from '../names.js';
import type { TableThere } from '../tables/table-plan.js';
import type { DuckdbConnection } from './connect.js';

export const nameParts = 2;

/** With all that it stands in: a file may be called what a schema is called. */
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

/** Names are the same there in capitals. */
export async function findTable(
  connection: DuckdbConnection,
  { within: [, schema = ''], table }: TableName,
): Promise<TableThere | undefined> {
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
      isGenerated: false,
    })),
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
