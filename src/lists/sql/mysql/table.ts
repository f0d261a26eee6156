import { ConfigurationError } from '../../../platform/errors/errors.js';
import type { TableName } from '../names.js';
import type { TableThere, RunMarker } from '../tables/table-plan.js';
import type { MysqlConnection } from './connect.js';

export const nameParts = 2;

/** @throws ConfigurationError where there is no database for it */
export async function locate(
  connection: MysqlConnection,
  parts: readonly string[],
): Promise<TableName> {
  const [first = '', second] = parts;
  if (second !== undefined) return { within: [first], table: second };
  const [[schema] = []] = await connection.query('SELECT DATABASE()');
  if (typeof schema === 'string') return { within: [schema], table: first };
  throw new ConfigurationError(`there is no database for ${first}`);
}

export async function findTable(
  connection: MysqlConnection,
  { within: [schema = ''], table }: TableName,
): Promise<TableThere | undefined> {
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
    marker: markerOf(String(comment)),
  };
}

/** The comment of a table that was made by a run: it comes and goes with the table. */
export function commentOf({ run, digest, rows }: RunMarker): string {
  return `sluice run ${run} ${digest} ${rows}`;
}

function markerOf(comment: string): RunMarker | undefined {
  const made = /^sluice run (\w+) (\w+) (\d+)$/.exec(comment);
  if (!made) return undefined;
  const [, run = '', digest = '', rows] = made;
  return { run, digest, applied: Number(rows), rows: Number(rows) };
}
