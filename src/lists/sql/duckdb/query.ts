import * as z from 'zod';
import { InputError } from '../../../platform/errors/errors.js';
import { writeText } from '../cell-text.js';
import type { QueryOptions, QueryRows } from '../dialect.js';
import type { Relation } from '../tables-read.js';
import type { ExistingTable } from '../tables/table-plan.js';
import { formOfKind, type TableColumn } from '../tables/table-reading.js';
import type { DuckdbConnection } from './connect.js';
import { isoInterval, kindOfDuckdbType, textOf } from './kinds.js';
import { findTable, locate } from './statements.js';

export async function ask(
  connection: DuckdbConnection,
  { query, asTable, signal }: QueryOptions<DuckdbConnection>,
): Promise<QueryRows> {
  const fields = await connection.query(`DESCRIBE SELECT * FROM ${asTable} AS sluice`);
  const origins = await queryOrigins(connection, query);
  const columns = fields.map(([field, printed]): TableColumn => {
    const type = String(printed);
    const origin = origins.get(String(field).toLowerCase());
    return {
      name: String(field),
      ...formOfKind(kindOfDuckdbType(type)),
      type,
      ...(origin && { origin }),
    };
  });
  const names = columns.map((_, at) => `c${at}`);
  const cells = columns.map(({ type }, at) => textOf(`c${at}`, type));
  // The driver ends the rows without a word when the query fails in the middle: a row of our own after
  // them shows that they are whole.
  const sql = `SELECT NULL, ${cells.join(', ')} FROM ${asTable} AS sluice(${names.join(', ')}) UNION ALL SELECT 'end', ${names.map(() => 'NULL').join(', ')}`;
  const printers = columns.map(({ kind }) => printersOf.get(kind) ?? writeText);
  return { columns, bytes: printRows(connection, sql, printers, signal) };
}

export async function relationsNamed(
  connection: DuckdbConnection,
  names: readonly string[],
): Promise<readonly Relation[]> {
  const isHere = (name: string): string =>
    `database_name = current_database() AND list_contains(string_split(?, chr(0)), lower(${name}))`;
  const found = await connection.query(
    `SELECT schema_name, table_name, NULL FROM duckdb_tables() WHERE ${isHere('table_name')}
      UNION ALL SELECT schema_name, view_name, sql FROM duckdb_views() WHERE ${isHere('view_name')}
      UNION ALL SELECT schema_name, function_name, macro_definition FROM duckdb_functions()
        WHERE macro_definition IS NOT NULL AND NOT internal AND ${isHere('function_name')}`,
    [1, 2, 3].map(() => names.join('\0')),
  );
  return found.map(([schema, name, definition]) => ({
    schema: String(schema),
    name: String(name),
    id: `${String(schema)}.${String(name)}`.toLowerCase(),
    definition: typeof definition === 'string' ? definition : undefined,
  }));
}

const printersOf = new Map<TableColumn['kind'], Printer>([
  ['interval', isoInterval],
  // It prints no zero before the point of a decimal that has no digits there.
  ['decimal', (text) => text.replace(/^(-?)\./, '$10.')],
]);

async function* printRows(
  connection: DuckdbConnection,
  sql: string,
  printers: readonly Printer[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let isWhole = false;
  for await (const [ends = [], ...columns] of connection.stream(sql)) {
    const end = ends.indexOf('end');
    isWhole = end !== -1;
    const rows = isWhole ? end : ends.length;
    if (rows > 0) yield Buffer.from(printLines(columns, rows, printers));
    signal?.throwIfAborted();
  }
  if (isWhole) return;
  // Run again without its rows, it reports the error.
  await connection.query(`SELECT count(COLUMNS(*)) FROM (${sql})`);
  throw new InputError('the rows of the query broke off', { code: 'input_unreadable' });
}

/** Encodes a cell's text between two tabs. */
type Printer = (text: string) => string;

function printLines(
  columns: readonly (readonly (string | null)[])[],
  rows: number,
  printers: readonly Printer[],
): string {
  const lines: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const cells = columns.map((column, at) => {
      const cell = column[row];
      return cell === null || cell === undefined ? '\\N' : (printers[at] ?? writeText)(cell);
    });
    lines.push(`${cells.join('\t')}\n`);
  }
  return lines.join('');
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

const from = z.object({
  type: z.string(),
  alias: z.string(),
  schema_name: z.string().optional(),
  table_name: z.string().optional(),
  column_name_alias: z.array(z.unknown()).optional(),
  join_type: z.string().optional(),
  get left() {
    return from.optional();
  },
  get right() {
    return from.optional();
  },
});
type From = z.infer<typeof from>;

/** The part of DuckDB's own parse of a query that shows the origin of columns. */
const parsed = z.object({
  statements: z.tuple([
    z.object({
      node: z.object({
        type: z.literal('SELECT_NODE'),
        cte_map: z.object({ map: z.array(z.object({ key: z.string() })) }),
        select_list: z.array(item),
        from_table: from,
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
async function queryOrigins(
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
  /** Its name in the query. */
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
