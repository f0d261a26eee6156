import type { OpenSinkOptions } from '../../rows/sink.js';
import type { Staging, Statements } from '../dialect.js';
import {
  quoteName,
  type TableName,
  type TablePlan,
  type ExistingTable,
} from '../tables/table-plan.js';
import { stageValues } from '../tables/row-values.js';
import type { SqliteConnection } from './connect.js';
import { sqliteValue, isTextType, strictTypeOf } from './kinds.js';

export const statements: Statements = {
  quote: (name) => quoteName(name),
  ignoresCase: true,
  parameter: () => '?',
  // This connection's own table, which locks nobody out of the file.
  staging: 'temp.sluice_staging',
  rowNumber: 'rowid',
  stagedName: (_, at) => `c${at}`,
  addsOneColumn: true,
  begin: ['BEGIN IMMEDIATE'],
  // A table's triggers must see each given row.
  skipsSame: ['update'],
  isSame: (cell, other) => `${cell} IS ${other} COLLATE BINARY`,
  // It does not report which rows it updated.
  isWritten: 'TRUE',
  markers: {
    targetOf: ({ table }) => table,
    definition:
      'target TEXT PRIMARY KEY, run TEXT NOT NULL, digest TEXT NOT NULL, applied INTEGER NOT NULL, rows INTEGER NOT NULL, written_at TEXT NOT NULL',
    rowCount: 'rows',
    replace: 'INSERT OR REPLACE',
    now: "datetime('now')",
  },
};

export async function stage(
  connection: SqliteConnection,
  plan: TablePlan,
  opening: OpenSinkOptions,
): Promise<Staging> {
  const cells = plan.columns.map(({ name }, at) => statements.stagedName(name, at));
  await connection.query(`CREATE TABLE ${statements.staging} (${cells.join(', ')})`);
  await connection.query('BEGIN');
  const insert = connection.prepare(
    `INSERT INTO ${statements.staging} VALUES (${cells.map(() => '?').join(', ')})`,
  );
  return stageValues(
    plan,
    opening,
    (values) => {
      insert(values.map(sqliteValue));
    },
    async () => {
      await connection.query('COMMIT');
    },
  );
}

/** A file has no schemas. */
export const nameParts = 1;

export async function locate(
  _: SqliteConnection,
  [table = '']: readonly string[],
): Promise<TableName> {
  return { within: ['main'], table };
}

export async function findTable(
  connection: SqliteConnection,
  { table }: TableName,
): Promise<ExistingTable | undefined> {
  const [found] = await connection.query(
    "SELECT name, type FROM main.sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)",
    [table],
  );
  if (!found) return undefined;
  const [[isStrict] = []] = await connection.query(
    "SELECT strict FROM pragma_table_list(?) WHERE schema = 'main'",
    [table],
  );
  const columns = await connection.query(
    'SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)',
    [table],
  );
  const primary = columns.filter(([, , at]) => Number(at) > 0).map(([column]) => String(column));
  const indexes: (readonly string[])[] = [];
  const unique = 'SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND partial = 0';
  for (const [index] of await connection.query(unique, [table])) {
    const parts = await connection.query('SELECT name FROM pragma_index_info(?)', [String(index)]);
    indexes.push(parts.map(([column]) => String(column)));
  }
  // Only in STRICT tables it is a type of its own, which keeps every cell.
  const isAny = (type: string): boolean => Number(isStrict) === 1 && /^any$/i.test(type);
  return {
    id: String(found[0]),
    isTable: found[1] === 'table',
    typeOf: Number(isStrict) === 1 ? strictTypeOf : undefined,
    columns: columns.map(([column, type, , hidden]) => ({
      name: String(column),
      isText: isTextType(String(type)),
      isPrinted: isTextType(String(type)) && !/^$|blob/i.test(String(type)),
      numberType: isTextType(String(type)) || isAny(String(type)) ? undefined : String(type),
      isGenerated: Number(hidden) > 1,
    })),
    keys: primary.length === 0 ? indexes : [primary, ...indexes],
  };
}
