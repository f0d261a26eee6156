import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { duckdbSink } from '../../src/databases/duckdb/index.js';
import { mysqlSink } from '../../src/databases/mysql/index.js';
import { postgresSink } from '../../src/databases/postgres/index.js';
import { SeenKeys } from '../../src/databases/seen-keys.js';
import { sqliteSink } from '../../src/databases/sqlite/index.js';
import { fileSource, type Sink } from '../../src/index.js';
import { exitCodeOf } from '../../src/cli/exit-code.js';
import { askMysql } from './mysql/ask-mysql.js';
import { askPostgres } from './postgres/ask-postgres.js';
import { rejection } from './rejection.js';
import { startVerifying, temporaryFolder } from './verify-rows.js';

/** A source in which the third row has the key of the first. */
async function writeList(): Promise<string> {
  const path = join(await temporaryFolder(), 'list.csv');
  await writeFile(path, 'id,email\n1,a@sluice.test\n2,b@sluice.test\n1,c@sluice.test\n');
  return path;
}

interface Place {
  readonly sink: Sink;
  /** Names of the tables there that this test made. */
  tables(): Promise<unknown[]>;
}

const databases: readonly (readonly [string, boolean, () => Promise<Place>])[] = [
  [
    'PostgreSQL',
    true,
    async () => ({
      sink: postgresSink({ url: inject('postgresUrl'), into: 'repeated', key: 'id' }),
      tables: async () => [
        ...(await askPostgres("SELECT 1 WHERE to_regclass('repeated') IS NOT NULL")),
      ],
    }),
  ],
  [
    'MySQL',
    inject('mysqlUrl') !== '',
    async () => ({
      sink: mysqlSink({ url: inject('mysqlUrl'), into: 'repeated', key: 'id' }),
      tables: () => askMysql("SHOW TABLES LIKE 'repeated'"),
    }),
  ],
  [
    'DuckDB',
    true,
    async () => {
      const path = join(await temporaryFolder(), 'crm.duckdb');
      return {
        sink: duckdbSink({ url: path, into: 'repeated', key: 'id' }),
        tables: async () => readdir(join(path, '..')),
      };
    },
  ],
  [
    'SQLite',
    true,
    async () => {
      const path = join(await temporaryFolder(), 'crm.db');
      return {
        sink: sqliteSink({ url: path, into: 'repeated', key: 'id' }),
        tables: async () => readdir(join(path, '..')),
      };
    },
  ],
];

describe('a key that stands in two rows of the input', () => {
  for (const [name, isThere, open] of databases) {
    test.skipIf(!isThere)(`is said before anything is sent: ${name}`, async () => {
      const { sink, tables } = await open();
      const verifying = await startVerifying();
      const source = fileSource(await writeList());
      const error = await rejection(verifying.run({ source, sink, email: ['email'] }));
      expect(error.message).toMatch(/^data rows 1 and 3 of the input have the same key in "id"/);
      expect(exitCodeOf(error)).toBe(2);
      expect(await verifying.charges()).toBe(0);
      expect((await verifying.client.listBatches()).length).toBe(0);
      expect(await tables()).toEqual([]);
    });
  }

  test.skipIf(inject('mysqlUrl') === '')(
    'is one in capitals where the table takes capitals for small letters',
    async () => {
      await askMysql(
        'CREATE TABLE caseless (email VARCHAR(80) COLLATE utf8mb4_general_ci PRIMARY KEY)',
      );
      const path = join(await temporaryFolder(), 'list.csv');
      await writeFile(path, 'email\nann@sluice.test\nAnn@sluice.test\n');
      const verifying = await startVerifying();
      const run = (table: string) =>
        verifying.run({
          source: fileSource(path),
          sink: mysqlSink({ url: inject('mysqlUrl'), into: table, key: 'email' }),
          email: ['email'],
        });
      expect((await rejection(run('caseless'))).message).toContain(
        'data rows 1 and 2 of the input',
      );
      expect(await verifying.charges()).toBe(0);
      // A table that is made tells them apart.
      expect((await run('with_case')).rows).toBe(2);
    },
  );

  test('is that of all its columns together', () => {
    const keys = new SeenKeys(['a', 'b']);
    keys.add(['1', '23']);
    keys.add(['12', '3']);
    keys.add(['', '123']);
    expect(() => keys.add(['12', '3'])).toThrow(
      'data rows 2 and 4 of the input have the same key in "a", "b"',
    );
  });
});
