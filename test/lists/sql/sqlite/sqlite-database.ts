import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sqliteSink, sqliteSource } from '../../../../src/lists/sql/sqlite/index.js';
import type { Cells, Database } from '../suite/database.js';
import { withFolder } from '../../../service/with-service.js';
import { askSqlite } from './ask-sqlite.js';

export const sqlite: Database = {
  name: 'SQLite',
  async open() {
    const folder = await withFolder();
    const path = join(folder, 'crm.db');
    return {
      url: `sqlite:${path}`,
      table: 'people',
      async ask(...statements) {
        const givesRows = /^\s*(?:select|with)/i.test(statements.at(-1) ?? '');
        return askSqlite(path, ...statements, ...(givesRows ? [] : ['SELECT 1'])) as Cells[];
      },
      source: (query, url = `sqlite:${path}`) => sqliteSource({ url, query }),
      sink: (options = {}) => sqliteSink({ url: path, into: 'people', ...options }),
      traces: () => readdir(folder),
    };
  },
  numbers: (rows) =>
    `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n) AS n`,
  values: {
    statements: (table) => [
      `CREATE TABLE ${table} (id INTEGER, "e mail" TEXT, yes BOOLEAN, x REAL, b BLOB, u)`,
      `INSERT INTO ${table} VALUES (1, 'a' || char(9, 10) || '\\N "🎈', 1, 1.5, x'00ff', 'text'),
        (9007199254740993, NULL, 0, 2.0, NULL, 5), (3, '', NULL, 1e300, x'', NULL)`,
    ],
    query: (table) => `SELECT *, id + 1 AS id FROM ${table};`,
    rows: [
      [1, 'a\t\n\\N "🎈', true, 1.5, Buffer.from([0, 255]), 'text', 2],
      [9007199254740993n, null, false, 2, null, 5, 9007199254740994n],
      [3, '', null, 1e300, Buffer.alloc(0), null, 4],
    ],
  },
  refusedQueries: [
    ['a table that is not there', 'SELECT * FROM t', /no such table: t/],
    ['a column that is not there', 'SELECT x FROM people', /no such column: x/],
    ['a statement that gives no rows', 'CREATE TABLE made (a)', { fault: 'empty' }],
  ],
  newTable: {
    query: () =>
      "SELECT 1 AS id, 'good@sluice.test' AS who_is UNION ALL SELECT 2, 'bad@sluice.test'",
    // Text where no flag belongs, whatever the columns are called.
    email: 'who_is',
    into: () => "people 'verified'",
    looks: () => [
      [
        `SELECT id, who_is_verification AS v, who_is_valid AS valid, typeof(who_is_valid) AS t FROM "people 'verified'"`,
        [
          { id: 1, v: 'verified', valid: 1, t: 'integer' },
          { id: 2, v: 'verified', valid: 0, t: 'integer' },
        ],
      ],
    ],
  },
  hasSchemas: false,
  hasOrigins: true,
  takes: ['text as integer', 'long text'],
  dropRow: (table, id) => [
    `CREATE TRIGGER ${table}_t BEFORE INSERT ON ${table} WHEN new.id = ${id} BEGIN SELECT RAISE(IGNORE); END`,
  ],
  isShared: true,
  ending: 'db',
};
