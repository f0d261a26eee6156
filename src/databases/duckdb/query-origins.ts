import { z } from 'zod';
import { findTable, qualifyName } from './find-table.js';
import type { DuckdbDatabase } from './open-duckdb.js';

const item = z.object({
  class: z.string(),
  alias: z.string(),
  column_names: z.array(z.string()).optional(),
  replace_list: z.array(z.unknown()).optional(),
  rename_list: z.array(z.unknown()).optional(),
});

/** As much of the database's own reading of a query as tells where its columns come from. */
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
 * The table's own columns that a query shows as they stand, by the names they have in its rows. Only a
 * query of one table tells: the database itself keeps no origins.
 */
export async function queryOrigins(
  database: DuckdbDatabase,
  query: string,
): Promise<ReadonlyMap<string, { readonly table: string; readonly column: string }>> {
  const none = new Map<string, never>();
  const [[text] = []] = await database.rows('SELECT json_serialize_sql(?::VARCHAR)', [query]);
  const tree = parsed.safeParse(JSON.parse(String(text)));
  if (!tree.success) return none;
  const { select_list: items, from_table: from } = tree.data.statements[0].node;
  const { schema_name: schema, table_name: name } = from;
  const place = await qualifyName(database, schema === '' ? [name] : [schema, name]);
  const table = await findTable(database, place);
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
