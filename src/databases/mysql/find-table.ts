import type { TableThere } from '../plan-table.js';
import { markerOfRow, markersTable, type RunMarker } from '../run-marker.js';
import type { MysqlConnection } from './connect-mysql.js';
import { quoteName } from './quote-name.js';

/** A table's database and its name. */
export interface MysqlName {
  readonly schema: string;
  readonly table: string;
}

export async function qualifyName(
  connection: MysqlConnection,
  parts: readonly string[],
): Promise<MysqlName | undefined> {
  const [first = '', second] = parts;
  if (second !== undefined) return { schema: first, table: second };
  const [[schema] = []] = await connection.query('SELECT DATABASE()');
  return typeof schema === 'string' ? { schema, table: first } : undefined;
}

export function quoteTable({ schema, table }: MysqlName): string {
  return `${quoteName(schema)}.${quoteName(table)}`;
}

/** A table that is there, and the marker that its comment is. */
export async function findTable(
  connection: MysqlConnection,
  { schema, table }: MysqlName,
): Promise<{ readonly there: TableThere; readonly comment: string } | undefined> {
  const [found] = await connection.query(
    'SELECT TABLE_NAME, ENGINE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
    [schema, table],
  );
  if (!found) return undefined;
  const [name, engine, comment] = found;
  const columns = await connection.query(
    'SELECT COLUMN_NAME, DATA_TYPE, EXTRA, COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION',
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
  return {
    comment: String(comment),
    there: {
      id: `${schema}.${String(name)}`,
      // Only such a table takes all of a transaction or nothing.
      isTable: String(engine).toLowerCase() === 'innodb',
      columns: columns.map(([column, type, extra, collation]) => ({
        name: String(column),
        isText: /char|text|blob|binary/i.test(String(type)),
        isGenerated: /(?:virtual|stored) generated/i.test(String(extra)),
        isCaseless: /_ci$/i.test(String(collation)),
      })),
      keys: [...keys.values()],
    },
  };
}

/** The comment of a table that was made by a run: it comes and goes with the table. */
export function commentOf({ run, digest, rows }: Omit<RunMarker, 'applied'>): string {
  return `sluice run ${run} ${digest} ${rows}`;
}

export async function readMarker(
  connection: MysqlConnection,
  { schema, table }: MysqlName,
  comment: string,
): Promise<RunMarker | undefined> {
  const markers = await findTable(connection, { schema, table: markersTable });
  const [row] = markers
    ? await connection.query(
        `SELECT run, digest, applied, row_count FROM ${quoteTable({ schema, table: markersTable })} WHERE target = ?`,
        [table],
      )
    : [];
  if (row) return markerOfRow(row);
  const made = /^sluice run (\w+) (\w+) (\d+)$/.exec(comment);
  if (!made) return undefined;
  const [, run = '', digest = '', rows] = made;
  return { run, digest, applied: Number(rows), rows: Number(rows) };
}
