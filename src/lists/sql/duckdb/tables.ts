import { hasEmptyMember, type TableName, type ExistingTable } from '../tables/table-plan.js';
import type { DuckdbConnection } from './connect.js';
import * as z from 'zod';

export const nameParts = 2;

/** With its database and schema: a file may be named like a schema. */
export async function locate(
  connection: DuckdbConnection,
  [first = '', second]: readonly string[],
): Promise<TableName> {
  const [[database, schema] = []] = await connection.query(
    'SELECT current_database(), current_schema()',
  );
  return second === undefined
    ? { within: [String(database), String(schema)], table: first }
    : { within: [String(database), first], table: second };
}

const here = 'database_name = current_database() AND lower(schema_name) = lower(?)';

/** Names are not case-sensitive there. */
export async function findTable(
  connection: DuckdbConnection,
  { within, table }: TableName,
): Promise<ExistingTable | undefined> {
  const [, schema = ''] = within;
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
  const unique = [
    ...keys.map(([names]) => (Array.isArray(names) ? names.map(String) : [])),
    ...indexes.map(([expressions]) => indexColumns(String(expressions))),
  ];
  return {
    id: `${schema}.${String(found ?? view)}`.toLowerCase(),
    isTable: found !== undefined,
    columns: columns.map(([name, type]) => ({
      name: String(name),
      type: String(type),
      isText: type === 'VARCHAR' || type === 'BLOB' || hasEmptyMember(String(type)),
      isPrinted: type === 'VARCHAR',
      isGenerated: false,
    })),
    keys: unique,
  };
}

/** `[id, "My column"]`; expressions are ignored. */
function indexColumns(expressions: string): readonly string[] {
  return [...expressions.slice(1, -1).matchAll(/"((?:[^"]|"")*)"|([^,\s"]+)/g)].map(
    ([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? '',
  );
}

const item = z.object({
  class: z.string(),
  alias: z.string(),
  column_names: z.array(z.string()).optional(),
  relation_name: z.string().optional(),
  replace_list: z.array(z.unknown()).optional(),
  rename_list: z.array(z.unknown()).optional(),
});

type Item = z.infer<typeof item>;

const fromClause = z.object({
  type: z.string(),
  alias: z.string(),
  schema_name: z.string().optional(),
  table_name: z.string().optional(),
  column_name_alias: z.array(z.unknown()).optional(),
  join_type: z.string().optional(),
  get left() {
    return fromClause.optional();
  },
  get right() {
    return fromClause.optional();
  },
});
type From = z.infer<typeof fromClause>;

/** The part of DuckDB's own parse of a query that shows the origin of columns. */
const parsed = z.object({
  statements: z.tuple([
    z.object({
      node: z.object({
        type: z.literal('SELECT_NODE'),
        cte_map: z.object({ map: z.array(z.object({ key: z.string() })) }),
        select_list: z.array(item),
        from_table: fromClause,
      }),
    }),
  ]),
});

interface Origin {
  readonly table: string;
  readonly column: string;
}

/**
 * The table columns that a query of tables, or of a join of them, returns unchanged, by their names in its rows in
 * lower case: the database itself keeps no origins.
 */
export async function queryOrigins(
  connection: DuckdbConnection,
  query: string,
): Promise<ReadonlyMap<string, Origin | undefined>> {
  const origins = new Map<string, Origin | undefined>();
  const [[text] = []] = await connection.query('SELECT json_serialize_sql(?::VARCHAR)', [query]);
  const tree = parsed.safeParse(JSON.parse(String(text)));
  if (!tree.success) return origins;
  const { cte_map: named, select_list: items, from_table: read } = tree.data.statements[0].node;
  const subqueries = new Set(named.map.map(({ key }) => key.toLowerCase()));
  const tables = await Promise.all(
    partsOf(read).map((part) => readTable(connection, part, subqueries)),
  );
  for (const [name, origin] of items.flatMap((each) => itemOrigins(each, tables))) {
    if (!origins.has(name.toLowerCase())) origins.set(name.toLowerCase(), origin);
  }
  return origins;
}

/** What a query's columns may come from. */
function partsOf(read: From): readonly From[] {
  if (read.type !== 'JOIN') return [read];
  const isFilter = read.join_type === 'SEMI' || read.join_type === 'ANTI';
  const { left, right } = read;
  return [left, ...(isFilter ? [] : [right])].flatMap((part) => (part ? partsOf(part) : []));
}

interface ReadTable {
  readonly name: string;
  /** The table itself; `undefined` for a view, a subquery and the like. */
  readonly table: ExistingTable | undefined;
}

async function readTable(
  connection: DuckdbConnection,
  { alias, type, schema_name: schema = '', table_name: name = '', ...part }: From,
  subqueries: ReadonlySet<string>,
): Promise<ReadTable> {
  const isNamed =
    type === 'BASE_TABLE' &&
    part.column_name_alias?.length === 0 &&
    !(schema === '' && subqueries.has(name.toLowerCase()));
  const place = isNamed && (await locate(connection, schema === '' ? [name] : [schema, name]));
  const table = place ? await findTable(connection, place) : undefined;
  return { name: alias || name, table: table?.isTable === true ? table : undefined };
}

/** The columns of an item of a query's list, by their names in its rows. */
function itemOrigins(
  { class: kind, alias, ...rest }: Item,
  tables: readonly ReadTable[],
): readonly (readonly [name: string, origin: Origin | undefined])[] {
  const { column_names: names = [], relation_name: relation = '' } = rest;
  const ofName = (wanted: string): readonly ReadTable[] =>
    tables.filter(({ name }) => wanted === '' || name.toLowerCase() === wanted.toLowerCase());
  const isChanged = [rest.replace_list, rest.rename_list].some((list = []) => list.length > 0);
  if (kind === 'STAR' && !isChanged) {
    const [only, ...others] = ofName(relation);
    const { id = '', columns = [] } = (others.length === 0 && only?.table) || {};
    return columns.map(({ name }) => [name, { table: id, column: name }]);
  }
  const column = names.at(-1) ?? '';
  const read = ofName(names.length > 1 ? (names.at(-2) ?? '') : '');
  const isKnown = kind === 'COLUMN_REF' && names.length <= 2 && read.every(({ table }) => table);
  const found = (isKnown ? read : []).flatMap(({ table }) =>
    (table?.columns ?? [])
      .filter(({ name }) => name.toLowerCase() === column.toLowerCase())
      .map(({ name }) => ({ table: table?.id ?? '', column: name })),
  );
  return [[alias || column, found.length === 1 ? found[0] : undefined]];
}
