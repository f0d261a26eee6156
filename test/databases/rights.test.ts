import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { mysqlSink } from '../../src/databases/mysql/index.js';
import { postgresSink } from '../../src/databases/postgres/index.js';
import { exitCodeOf } from '../../src/cli/exit-code.js';
import { fileSource, type Sink } from '../../src/index.js';
import { askMysql } from './mysql/ask-mysql.js';
import { askPostgres } from './postgres/ask-postgres.js';
import { rejection } from './rejection.js';
import { startVerifying, temporaryFolder } from './verify-rows.js';

/** What a sink is refused before anything is sent. */
async function refusalOf(sink: Sink): Promise<string> {
  const path = join(await temporaryFolder(), 'list.csv');
  await writeFile(path, 'id,email\n1,good1@sluice.test\n2,good2@sluice.test\n');
  const verifying = await startVerifying();
  const error = await rejection(
    verifying.run({ source: fileSource(path), sink, email: ['email'] }),
  );
  expect(exitCodeOf(error)).toBe(2);
  expect(await verifying.charges()).toBe(0);
  expect((await verifying.client.listBatches()).length).toBe(0);
  return error.message;
}

const newName = (): string => `r_${randomBytes(6).toString('hex')}`;

/** The URL of another user of the same server. */
function urlOf(user: string, url: string): string {
  const other = new URL(url);
  other.username = user;
  other.password = 'geheim';
  return other.href;
}

describe('PostgreSQL says before anything is sent that a user', () => {
  async function makeUser(rights: (table: string) => readonly string[]) {
    const [user, schema] = [newName(), newName()];
    const table = `${schema}.people`;
    await askPostgres(`CREATE ROLE ${user} LOGIN PASSWORD 'geheim'`);
    // Of its own: nobody has made the table of markers there yet.
    await askPostgres(`CREATE SCHEMA ${schema}`);
    await askPostgres(`GRANT USAGE ON SCHEMA ${schema} TO ${user}`);
    await askPostgres(`CREATE TABLE ${table} (id int PRIMARY KEY, email text)`);
    await askPostgres(`INSERT INTO ${table} VALUES (1, 'good1@sluice.test')`);
    for (const right of rights(user)) await askPostgres(right.replace('<table>', table));
    const url = urlOf(user, inject('postgresUrl'));
    return { schema, table, sink: (into: string) => postgresSink({ url, into, key: 'id' }) };
  }

  test.each([
    [
      'may not add columns',
      ['GRANT SELECT, INSERT, UPDATE ON <table> TO'],
      /must be owner of table/,
    ],
    [
      'may not make tables beside it',
      ['ALTER TABLE <table> OWNER TO'],
      /permission denied for schema/,
    ],
  ])('%s', async (_, grants, words) => {
    const { table, sink } = await makeUser((user) => grants.map((grant) => `${grant} ${user}`));
    const message = await refusalOf(sink(table));
    expect(message).toMatch(words);
    expect(message).toContain('grant the right, or name a user who has it');
  });

  test('may not make a new one', async () => {
    const { schema, sink } = await makeUser(() => []);
    expect(await refusalOf(sink(`${schema}.other`))).toMatch(/permission denied for schema/);
  });

  test('may only read', async () => {
    const { table, sink } = await makeUser((user) => [
      `ALTER TABLE <table> OWNER TO ${user}`,
      `ALTER ROLE ${user} SET default_transaction_read_only = on`,
    ]);
    const message = await refusalOf(sink(table));
    expect(message).toContain('read-only transaction; name a server that takes writes');
  });
});

describe.skipIf(inject('mysqlUrl') === '')(
  'MariaDB says before anything is sent that a user',
  () => {
    async function makeUser(rights: readonly string[]) {
      const [user, database] = [newName(), newName()];
      const table = `${database}.people`;
      await askMysql(
        `CREATE USER '${user}'@'127.0.0.1' IDENTIFIED BY 'geheim'`,
        // Of its own: nobody has made the table of markers there yet.
        `CREATE DATABASE ${database}`,
        `CREATE TABLE ${table} (id INT PRIMARY KEY, email TEXT)`,
        `INSERT INTO ${table} VALUES (1, 'good1@sluice.test')`,
        `GRANT ${['SELECT', 'CREATE TEMPORARY TABLES', ...rights].join(', ')} ON ${database}.* TO '${user}'@'127.0.0.1'`,
      );
      const url = new URL(urlOf(user, inject('mysqlUrl')));
      url.pathname = `/${database}`;
      return { table, sink: (into: string) => mysqlSink({ url: url.href, into, key: 'id' }) };
    }

    test.each([
      ['may not add columns', ['INSERT', 'UPDATE', 'CREATE', 'DELETE'], /ALTER command denied/],
      [
        'may not make tables beside it',
        ['INSERT', 'UPDATE', 'ALTER', 'DELETE'],
        /CREATE command denied/,
      ],
      ['may not update', ['INSERT', 'CREATE', 'ALTER', 'DELETE'], /UPDATE command denied/],
      ['may not insert', ['UPDATE', 'CREATE', 'ALTER', 'DELETE'], /INSERT command denied/],
    ])('%s', async (_, rights, words) => {
      const { table, sink } = await makeUser(rights);
      const message = await refusalOf(sink(table));
      expect(message).toMatch(words);
      expect(message).toContain('grant the right, or name a user who has it');
      expect(await askMysql(`SELECT * FROM ${table}`)).toEqual([
        { id: 1, email: 'good1@sluice.test' },
      ]);
    });

    test('may not make a new one', async () => {
      const { sink } = await makeUser(['INSERT', 'UPDATE', 'DROP']);
      expect(await refusalOf(sink('other'))).toMatch(/CREATE command denied/);
    });

    test('may only read, as the server is a replica', async () => {
      const { table, sink } = await makeUser(['INSERT', 'UPDATE', 'ALTER', 'CREATE', 'DELETE']);
      onTestFinished(async () => {
        await askMysql('SET GLOBAL read_only = 0');
      });
      await askMysql('SET GLOBAL read_only = 1');
      expect(await refusalOf(sink(table))).toContain(
        'the server is read-only; name a server that takes writes',
      );
    });
  },
);
