import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { mysqlSink, mysqlSource } from '../../../src/databases/mysql/index.js';
import { postgresSink } from '../../../src/databases/postgres/index.js';
import { fileSource, type Source } from '../../../src/index.js';
import { startCountingProxy } from '../counting-proxy.js';
import { changeFirst } from '../change-first.js';
import { askPostgres } from '../postgres/ask-postgres.js';
import { readAll } from '../read-all.js';
import { rejection } from '../rejection.js';
import { startVerifying, temporaryFolder } from '../verify-rows.js';
import { writeTwiceKilled } from '../write-twice-killed.js';
import { askMysql as ask } from './ask-mysql.js';

const url = inject('mysqlUrl');

const query = (text: string, at = url): Source => mysqlSource({ url: at, query: text });

async function makePeople(table: string): Promise<void> {
  await ask(
    `CREATE TABLE ${table} (id INT PRIMARY KEY, email TEXT, note VARCHAR(20) NOT NULL DEFAULT 'kept')`,
    `INSERT INTO ${table} (id, email) VALUES (1, 'good1@sluice.test'), (2, 'good2@sluice.test'), (3, 'bad3@sluice.test'), (4, 'good4@sluice.test'), (5, 'good5@sluice.test')`,
  );
}

describe.skipIf(url === '')('MySQL and MariaDB (skipped where mariadbd is not installed)', () => {
  test('rows have the values that the database has', async () => {
    await ask(
      'CREATE TABLE types (b BIGINT, d DECIMAL(10,2), f DOUBLE, yes BOOLEAN, t TEXT, bytes BLOB, day DATE, at DATETIME, ts TIMESTAMP NULL, vb VARBINARY(4))',
      `INSERT INTO types VALUES (9007199254740993, 1.50, 1.5, true, 'a\\tb\\n\\\\N "🎈', x'00ff', '2001-02-03', '2026-11-21 10:00:00', NULL, 'ab'), (NULL, NULL, NULL, 2, '', NULL, NULL, NULL, NULL, NULL)`,
    );
    expect(await readAll(query('SELECT * FROM types;'))).toEqual([
      [
        9007199254740993n,
        '1.50',
        1.5,
        true,
        'a\tb\n\\N "🎈',
        Buffer.from([0, 255]),
        '2001-02-03',
        '2026-11-21 10:00:00',
        null,
        Buffer.from('ab'),
      ],
      [null, null, null, 2, '', null, null, null, null, null],
    ]);
    const many = await readAll(query('SELECT seq FROM seq_1_to_1700'));
    expect(many.map(([i]) => i)).toEqual(Array.from({ length: 1700 }, (_, at) => at + 1));
  });

  test.each([
    ['a table that is not there', 'SELECT * FROM nowhere', /nowhere' doesn't exist/],
    [
      'a column that is not there',
      'SELECT nothing FROM information_schema.tables',
      /Unknown column/,
    ],
    ['a statement that is none', 'SELEKT 1', /syntax/],
    ['a statement that changes something', 'CREATE TABLE made (a INT)', /READ ONLY|gives no rows/],
  ])('%s is the caller’s to mend', async (_, text, words) => {
    const error = await rejection(readAll(query(text)));
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toMatch(words);
    expect(await ask("SHOW TABLES LIKE 'made'")).toEqual([]);
  });

  test('a wrong password, a dead server and a lost one are said', async () => {
    const wrong = new URL(url);
    wrong.password = 'geheim';
    const refused = await rejection(readAll(query('SELECT 1', wrong.href)));
    expect(refused).toMatchObject({ code: 'input_unreadable' });
    expect(refused.message).toContain('the user or the password is refused');
    expect(inspect(refused, { depth: Infinity, showHidden: true })).not.toContain('geheim');
    const dead = await rejection(readAll(query('SELECT 1', 'mysql://u:geheim@127.0.0.1:1/d')));
    expect(dead.message).toContain('nothing listens there');
    const proxy = await startCountingProxy(url, { cutAfterFromServer: 3_000_000 });
    const lost = await rejection(
      readAll(query("SELECT seq, repeat('x', 100) FROM seq_1_to_300000", proxy.url)),
    );
    expect(lost).toMatchObject({ code: 'input_unreadable' });
    expect(lost.message).toContain('the connection was lost');
  });

  test('a table is made with the types of the query, and is there whole or not at all', async () => {
    await makePeople('people');
    const verifying = await startVerifying();
    const run = {
      source: query('SELECT id, email, id = 1 AS first, 1.50 AS d FROM people'),
      email: ['email'],
    };
    await verifying.run({ ...run, sink: mysqlSink({ url, into: 'made `here`', key: 'id' }) });
    expect(
      await ask('SELECT id, email_valid, email_wrong, d FROM `made ``here``` ORDER BY id LIMIT 3'),
    ).toEqual([
      { id: 1, email_valid: 1, email_wrong: 0, d: '1.50' },
      { id: 2, email_valid: 1, email_wrong: 0, d: '1.50' },
      { id: 3, email_valid: 0, email_wrong: 1, d: '1.50' },
    ]);
    const standing = await rejection(
      verifying.run({ ...run, sink: mysqlSink({ url, into: 'people' }) }),
    );
    expect(standing.message).toContain('is there already');
    const proxy = await startCountingProxy(url, { cutAfterToServer: 3000 });
    const sink = mysqlSink({ url: proxy.url, into: 'half' });
    expect(await rejection(verifying.run({ ...run, sink }))).toMatchObject({
      code: 'output_failed',
    });
    expect(await ask("SHOW TABLES LIKE 'half'")).toEqual([]);
  });

  test('a table may have columns that are called what ours are', async () => {
    await makePeople('ours');
    const verifying = await startVerifying();
    await verifying.run({
      source: query('SELECT email, id AS sluice_row, id + 1 AS c0 FROM ours WHERE id = 1'),
      sink: mysqlSink({ url, into: 'ours_too', key: 'sluice_row' }),
      email: ['email'],
    });
    expect(await ask('SELECT sluice_row, c0, email_valid FROM ours_too')).toEqual([
      { sluice_row: 1, c0: 2, email_valid: 1 },
    ]);
  });

  test('a table is updated by a key, and its own rows get the added columns alone', async () => {
    await makePeople('crm');
    const csv = join(await temporaryFolder(), 'list.csv');
    await writeFile(csv, 'id,email\n4,good40@sluice.test\n6,bad@sluice.test\n');
    const verifying = await startVerifying();
    await verifying.run({
      source: fileSource(csv),
      sink: mysqlSink({ url, into: 'crm', key: 'id' }),
      email: ['email'],
    });
    const sink = mysqlSink({ url, into: 'crm', key: 'id' });
    await verifying.run({
      source: query('SELECT id, email FROM crm WHERE id < 4'),
      sink: changeFirst(sink, () =>
        ask(
          "UPDATE crm SET email = 'newer@sluice.test' WHERE id = 1",
          'DELETE FROM crm WHERE id = 2',
        ),
      ),
      email: ['email'],
    });
    expect(await ask('SELECT id, email, note, email_valid AS valid FROM crm ORDER BY id')).toEqual([
      { id: 1, email: 'newer@sluice.test', note: 'kept', valid: null },
      { id: 3, email: 'bad3@sluice.test', note: 'kept', valid: 0 },
      { id: 4, email: 'good40@sluice.test', note: 'kept', valid: 1 },
      { id: 5, email: 'good5@sluice.test', note: 'kept', valid: null },
      { id: 6, email: 'bad@sluice.test', note: 'kept', valid: 0 },
    ]);
  });

  test.each([
    ['marked', {}],
    ['marked_key', { key: 'id' }],
  ])('a table is not written again when killed behind the end: %s', async (table, options) => {
    await makePeople(`${table}_people`);
    await writeTwiceKilled(
      {
        source: query(`SELECT id, email FROM ${table}_people`),
        sink: mysqlSink({ url, into: table, ...options }),
      },
      () => ask(`UPDATE ${table} SET email_reason = 'touched'`),
    );
    expect(await ask(`SELECT count(*) AS n FROM ${table} WHERE email_reason = 'touched'`)).toEqual([
      { n: 5 },
    ]);
  });

  test('types go on into PostgreSQL', async () => {
    await ask(
      'CREATE TABLE onward (id BIGINT PRIMARY KEY, email TEXT, yes BOOLEAN, d DECIMAL(10,2), day DATE, bytes BLOB)',
      "INSERT INTO onward VALUES (1, 'good@sluice.test', true, 12.50, '2001-02-03', x'00ff')",
    );
    const verifying = await startVerifying();
    await verifying.run({
      source: query('SELECT * FROM onward'),
      sink: postgresSink({ url: inject('postgresUrl'), into: 'from_mysql' }),
      email: ['email'],
    });
    expect(
      await askPostgres(
        'SELECT id, yes, d, bytes, pg_typeof(id)::text AS t, email_valid FROM from_mysql',
      ),
    ).toEqual([
      {
        id: '1',
        yes: true,
        d: '12.50',
        bytes: Buffer.from([0, 255]),
        t: 'bigint',
        email_valid: true,
      },
    ]);
  });
});
