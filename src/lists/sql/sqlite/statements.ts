import type { OpenSinkOptions } from '../../rows/sink.js';
import type { Staging, Statements } from '../dialect.js';
import { quoteName, type TablePlan } from '../tables/table-plan.js';
import { stageValues } from '../tables/row-values.js';
import { type SqliteConnection, sqliteValue } from './connect.js';
import type { ColumnFacts } from '../../rows/values/kind-tally.js';
import type { Kind, KindName } from '../../rows/values/kinds.js';

export const statements: Statements = {
  quote: quoteName,
  ignoresCase: true,
  parameter: () => '?',
  // This connection's own table, which locks nobody out of the file.
  staging: 'temp.sluice_staging',
  rowNumber: 'rowid',
  stagedName: (_, at) => `c${at}`,
  stagesUntyped: true,
  addsOneColumn: true,
  begin: ['BEGIN IMMEDIATE'],
  orFail: ' OR ABORT',
  // A table's triggers must see each given row.
  skipsSame: ['update'],
  isSame: (cell, other) => `${cell} IS ${other} COLLATE BINARY`,
  // It does not report which rows it updated.
  isWritten: 'TRUE',
  markers: {
    targetOf: ({ table }) => table,
    definition:
      'target TEXT PRIMARY KEY, run TEXT NOT NULL, digest TEXT NOT NULL, applied INTEGER NOT NULL, rows INTEGER NOT NULL, result_columns TEXT NOT NULL, written_at TEXT NOT NULL',
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

/** The types of new columns. A date is text there: numeric types would convert texts like numbers, and drop zeros. */
const types: Readonly<Partial<Record<KindName, string>>> = {
  text: 'TEXT',
  boolean: 'BOOLEAN',
  int8: 'INTEGER',
  int16: 'INTEGER',
  int32: 'INTEGER',
  int64: 'INTEGER',
  uint8: 'INTEGER',
  uint16: 'INTEGER',
  uint32: 'INTEGER',
  float32: 'REAL',
  float64: 'REAL',
  date: 'DATE',
  timestamp: 'DATETIME',
  binary: 'BLOB',
};

export function typeOf({ kind = { name: 'text' }, isSpecial }: ColumnFacts): string | undefined {
  // NaN would become null there.
  return isSpecial ? undefined : types[kind.name];
}

/** The type of a new column in a STRICT table, which accepts only a few types. */
export function strictTypeOf(kind: Kind): string {
  if (kind.name === 'boolean') return 'INTEGER';
  const type = types[kind.name] ?? 'TEXT';
  return ['INTEGER', 'REAL', 'BLOB'].includes(type) ? type : 'TEXT';
}
