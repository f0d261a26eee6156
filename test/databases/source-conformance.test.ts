import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { duckdbSource } from '../../src/databases/duckdb/index.js';
import { mysqlSource } from '../../src/databases/mysql/index.js';
import { postgresSource } from '../../src/databases/postgres/index.js';
import { sqliteSource } from '../../src/databases/sqlite/index.js';
import type { Source } from '../../src/index.js';
import { sourceChecks } from '../../src/testing/index.js';
import { askSqlite } from './sqlite/ask-sqlite.js';
import { temporaryFolder } from './verify-rows.js';

const header = ['id', 'email', 'note'];
const rows = [
  ['1', 'ann@example.com', 'x, "q"'],
  ['2', undefined, 'ümlaut'],
  ['3', 'cid@example.com', ''],
];
const query = `SELECT '1' AS id, 'ann@example.com' AS email, 'x, "q"' AS note UNION ALL
  SELECT '2', NULL, 'ümlaut' UNION ALL SELECT '3', 'cid@example.com', ''`;

const sources: readonly (readonly [string, boolean, () => Source | Promise<Source>])[] = [
  ['PostgreSQL', true, () => postgresSource({ url: inject('postgresUrl'), query })],
  ['MySQL', inject('mysqlUrl') !== '', () => mysqlSource({ url: inject('mysqlUrl'), query })],
  [
    'SQLite',
    true,
    async () => {
      const url = join(await temporaryFolder(), 'list.db');
      askSqlite(url, 'CREATE TABLE t (a)', 'SELECT 1');
      return sqliteSource({ url, query });
    },
  ],
  ['DuckDB', true, () => duckdbSource({ url: 'duckdb::memory:', query })],
];

for (const [name, isThere, create] of sources) {
  describe.skipIf(!isThere)(`${name} as a source`, () => {
    const newPath = async (): Promise<string> => join(await temporaryFolder(), 'kept');
    const checks = sourceChecks({ header, rows, create, newPath });
    test.each(checks.map((check) => [check.name, check] as const))('%s', async (_, check) => {
      await expect(check.run()).resolves.toBeUndefined();
    });
  });
}
