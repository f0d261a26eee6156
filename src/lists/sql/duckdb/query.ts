import * as z from 'zod';
import { InputError } from '../../../platform/errors/errors.js';
import { writeText } from '../cell-text.js';
import type { QueryOptions, QueryRows } from '../dialect.js';
import type { Relation } from '../tables-read.js';
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
    const origin = origins.get(String(field));
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
      UNION ALL SELECT schema_name, view_name, sql FROM duckdb_views() WHERE ${isHere('view_name')}`,
    [names.join('\0'), names.join('\0')],
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
  replace_list: z.array(z.unknown()).optional(),
  rename_list: z.array(z.unknown()).optional(),
});

/** The part of DuckDB's own parse of a query that shows the origin of columns. */
const parsed = z.object({
  statements: z.tuple([
    z.object({
      node: z.object({
        type: z.literal('SELECT_NODE'),
        select_list: z.array(item),
        from_table: z.object({
          type: z.literal('BASE_TABLE'),
          schema_name: z.string(),
          table_name: z.string(),
        }),
      }),
    }),
  ]),
});

/**
 * The table columns that a query returns unchanged, by their names in its rows. Only for a query of one
 * table: the database itself keeps no origins.
 */
async function queryOrigins(
  connection: DuckdbConnection,
  query: string,
): Promise<ReadonlyMap<string, { readonly table: string; readonly column: string }>> {
  const none = new Map<string, never>();
  const [[text] = []] = await connection.query('SELECT json_serialize_sql(?::VARCHAR)', [query]);
  const tree = parsed.safeParse(JSON.parse(String(text)));
  if (!tree.success) return none;
  const { select_list: items, from_table: from } = tree.data.statements[0].node;
  const { schema_name: schema, table_name: name } = from;
  const place = await locate(connection, schema === '' ? [name] : [schema, name]);
  const table = await findTable(connection, place);
  if (table?.isTable !== true) return none;
  const own = table.columns.map((column) => column.name);
  const isWhole = items.some(
    ({ class: kind, replace_list: replaced = [], rename_list: renamed = [] }) =>
      kind === 'STAR' && replaced.length === 0 && renamed.length === 0,
  );
  const shown = items.flatMap(({ class: kind, alias, column_names: names }) => {
    const column = kind === 'COLUMN_REF' ? names?.at(-1) : undefined;
    return column !== undefined && own.includes(column) && (alias === '' || alias === column)
      ? [column]
      : [];
  });
  const columns = isWhole ? own : shown;
  return new Map(columns.map((column) => [column, { table: table.id, column }]));
}
