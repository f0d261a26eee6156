import type { OpenSinkOptions } from '../../rows/sink.js';
import type { Staging, Statements } from '../dialect.js';
import { quoteName } from '../names.js';
import type { TablePlan } from '../tables/table-plan.js';
import { stageValues } from '../tables/row-values.js';
import type { SqliteConnection } from './connect.js';
import { sqliteValue } from './kinds.js';

export const statements: Statements = {
  quote: (name) => quoteName(name),
  parameter: () => '?',
  // This connection's own, which locks nobody out of the file.
  staging: 'temp.sluice_staging',
  rowNumber: 'rowid',
  stagedName: (_, at) => `c${at}`,
  addsOneColumn: true,
  begin: ['BEGIN IMMEDIATE'],
  // The triggers of a table are to see each row that is given for it.
  skipsSame: ['update'],
  isSame: (cell, other) => `${cell} IS ${other} COLLATE BINARY`,
  // Which rows it updated, it does not tell.
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
