import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { postgresSink, postgresSource } from '../../../src/databases/postgres/index.js';
import { sqliteSink, sqliteSource } from '../../../src/databases/sqlite/index.js';
import { fileSink, fileSource } from '../../../src/index.js';
import { changeFirst } from '../change-first.js';
import { askPostgres } from '../postgres/ask-postgres.js';
import { readAll } from '../read-all.js';
import { rejection } from '../rejection.js';
import { startVerifying, temporaryFolder } from '../verify-rows.js';
import { writeTwiceKilled } from '../write-twice-killed.js';
import { askSqlite as ask } from './ask-sqlite.js';

async function makePeople(rows = 5): Promise<string> {
  const path = join(await temporaryFolder(), 'crm.db');
  ask(
    path,
    "CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT, note TEXT NOT NULL DEFAULT 'kept')",
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
     INSERT INTO people (id, email) SELECT i, CASE i % 3 WHEN 0 THEN 'bad' ELSE 'good' END || i || '@sluice.test' FROM n`,
    'SELECT 1',
  );
  return path;
}

describe('rows of an SQLite file', () => {
  test('have the values that the file has, each cell its own type', async () => {
    const path = join(await temporaryFolder(), 'types.db');
    ask(
      path,
      'CREATE TABLE t (id INTEGER, "e mail" TEXT, yes BOOLEAN, x REAL, b BLOB, u)',
      `INSERT INTO t VALUES (1, 'a' || char(9, 10) || '\\N "🎈', 1, 1.5, x'00ff', 'text'),
        (9007199254740993, NULL, 0, 2.0, NULL, 5), (3, '', NULL, 1e300, x'', NULL)`,
      'SELECT 1',
    );
    expect(
      await readAll(
        sqliteSource({ url: `sqlite:${path}`, query: 'SELECT *, id + 1 AS id FROM t;' }),
      ),
    ).toEqual([
      [1, 'a\t\n\\N "🎈', true, 1.5, Buffer.from([0, 255]), 'text', 2],
      [9007199254740993n, null, false, 2, null, 5, 9007199254740994n],
      [3, '', null, 1e300, Buffer.alloc(0), null, 4],
    ]);
    const many = await readAll(
      sqliteSource({
        url: path,
        query:
          'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1700) SELECT i FROM n ORDER BY i DESC -- all',
      }),
    );
    expect(many.map(([i]) => i)).toEqual(Array.from({ length: 1700 }, (_, at) => 1700 - at));
  });

  test.each([
    ['a file that is not there', 'nowhere.db', 'SELECT 1', 'input_unreadable', /no such file/],
    ['a file that is none', 'junk.db', 'SELECT * FROM t', 'input_unreadable', /no SQLite database/],
    [
      'a table that is not there',
      'good.db',
      'SELECT * FROM t',
      'invalid_option',
      /no such table: t/,
    ],
    [
      'a column that is not there',
      'good.db',
      'SELECT x FROM people',
      'invalid_option',
      /no such column: x/,
    ],
    [
      'a statement that gives no rows',
      'good.db',
      'CREATE TABLE made (a)',
      'invalid_option',
      /gives no rows/,
    ],
    [
      'text that is none',
      'good.db',
      "SELECT CAST(x'ff41' AS TEXT) AS odd",
      'input_malformed',
      /"odd" is text with bytes/,
    ],
  ])('%s is said', async (_, file, query, code, words) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'junk.db'), 'no database at all. '.repeat(200));
    ask(join(folder, 'good.db'), 'CREATE TABLE people (id)', 'SELECT 1');
    const error = await rejection(
      readAll(sqliteSource({ url: `sqlite:${join(folder, file)}`, query })),
    );
    expect(error).toMatchObject({ code });
    expect(error.message).toMatch(words);
    expect(
      ask(join(folder, 'good.db'), "SELECT name FROM sqlite_master WHERE name = 'made'"),
    ).toEqual([]);
  });
});

describe('a table in an SQLite file', () => {
  test('is made, with the columns that the query has', async () => {
    const path = await makePeople();
    const verifying = await startVerifying();
    await verifying.run({
      source: sqliteSource({ url: path, query: 'SELECT id, email FROM people ORDER BY id' }),
      sink: sqliteSink({ url: `sqlite:${path}`, into: 'people "verified"'.replaceAll('"', "'") }),
      email: ['email'],
    });
    expect(
      ask(path, `SELECT id, email_valid, typeof(email_valid) AS t FROM "people 'verified'"`),
    ).toEqual([
      { id: 1, email_valid: 1, t: 'integer' },
      { id: 2, email_valid: 1, t: 'integer' },
      { id: 3, email_valid: 0, t: 'integer' },
      { id: 4, email_valid: 1, t: 'integer' },
      { id: 5, email_valid: 1, t: 'integer' },
    ]);
    const again = await rejection(
      verifying.run({
        source: sqliteSource({ url: path, query: 'SELECT id, email FROM people' }),
        sink: sqliteSink({ url: path, into: 'people' }),
        email: ['email'],
      }),
    );
    expect(again.message).toContain('is there already');
  });

  test('is updated by a key, and its own rows get the added columns alone', async () => {
    const path = await makePeople();
    const csv = join(await temporaryFolder(), 'list.csv');
    await writeFile(csv, 'id,email\n4,good40@sluice.test\n6,bad@sluice.test\n');
    const verifying = await startVerifying();
    await verifying.run({
      source: fileSource(csv),
      sink: sqliteSink({ url: path, into: 'people', key: 'id' }),
      email: ['email'],
    });
    const sink = sqliteSink({ url: path, into: 'people', key: 'id' });
    await verifying.run({
      source: sqliteSource({ url: path, query: 'SELECT id, email FROM people WHERE id < 4' }),
      sink: changeFirst(sink, () =>
        ask(
          path,
          "UPDATE people SET email = 'newer@sluice.test' WHERE id = 1",
          'DELETE FROM people WHERE id = 2',
          'SELECT 1',
        ),
      ),
      email: ['email'],
    });
    expect(
      ask(path, 'SELECT id, email, note, email_valid AS valid FROM people ORDER BY id'),
    ).toEqual([
      { id: 1, email: 'newer@sluice.test', note: 'kept', valid: null },
      { id: 3, email: 'bad3@sluice.test', note: 'kept', valid: 0 },
      { id: 4, email: 'good40@sluice.test', note: 'kept', valid: 1 },
      { id: 5, email: 'good5@sluice.test', note: 'kept', valid: null },
      { id: 6, email: 'bad@sluice.test', note: 'kept', valid: 0 },
    ]);
  });

  test('gets small letters also where capitals and small letters are the same', async () => {
    const path = await makePeople();
    ask(
      path,
      "ALTER TABLE people ADD COLUMN email_verification TEXT COLLATE NOCASE DEFAULT 'VERIFIED'",
      'SELECT 1',
    );
    const verifying = await startVerifying();
    await verifying.run({
      source: sqliteSource({ url: path, query: 'SELECT id, email FROM people WHERE id < 3' }),
      sink: sqliteSink({ url: path, into: 'people', key: 'id' }),
      email: ['email'],
    });
    expect(ask(path, 'SELECT email_verification AS v FROM people ORDER BY id LIMIT 3')).toEqual([
      { v: 'verified' },
      { v: 'verified' },
      { v: 'VERIFIED' },
    ]);
  });

  test.each([[{}], [{ key: 'id' }]])(
    'is not written again when killed behind the commit: %j',
    async (options) => {
      const path = await makePeople();
      await writeTwiceKilled(
        {
          source: sqliteSource({ url: path, query: 'SELECT id, email FROM people' }),
          sink: sqliteSink({ url: path, into: 'verified', ...options }),
        },
        () => ask(path, "UPDATE verified SET email_reason = 'touched'", 'SELECT 1'),
      );
      expect(
        ask(path, "SELECT count(*) AS n FROM verified WHERE email_reason = 'touched'"),
      ).toEqual([{ n: 5 }]);
    },
  );

  test('is made once more when it was dropped behind the commit', async () => {
    const path = await makePeople();
    await writeTwiceKilled(
      {
        source: sqliteSource({ url: path, query: 'SELECT id, email FROM people' }),
        sink: sqliteSink({ url: path, into: 'verified' }),
      },
      () => ask(path, 'DROP TABLE verified', 'SELECT 1'),
    );
    expect(ask(path, 'SELECT count(email_verification) AS n FROM verified')).toEqual([{ n: 5 }]);
  });

  test('has text where no flag belongs, whatever its columns are called', async () => {
    const path = await makePeople();
    const verifying = await startVerifying();
    await verifying.run({
      source: sqliteSource({ url: path, query: 'SELECT id, email AS who_is FROM people' }),
      sink: sqliteSink({ url: path, into: 'verified' }),
      email: ['who_is'],
    });
    expect(
      ask(path, 'SELECT who_is_verification AS v, who_is_valid AS valid FROM verified LIMIT 1'),
    ).toEqual([{ v: 'verified', valid: 1 }]);
  });

  test('is as it was when it refuses a row, which is said before anything is sent', async () => {
    const path = await makePeople();
    ask(
      path,
      "CREATE TRIGGER refuse BEFORE UPDATE ON people WHEN NEW.id = 4 BEGIN SELECT RAISE(ABORT, 'refused'); END",
      'SELECT 1',
    );
    const verifying = await startVerifying();
    const run = {
      source: sqliteSource({ url: path, query: 'SELECT id, email FROM people' }),
      sink: sqliteSink({ url: path, into: 'people', key: 'id' }),
      email: ['email'],
    };
    expect(await rejection(verifying.run(run))).toMatchObject({ code: 'invalid_option' });
    expect(await verifying.charges()).toBe(0);
    expect(ask(path, "SELECT name FROM pragma_table_info('people')")).toHaveLength(3);
    ask(path, 'DROP TRIGGER refuse', 'SELECT 1');
    await verifying.run(run);
    expect(ask(path, 'SELECT count(email_valid) AS n FROM people')).toEqual([{ n: 5 }]);
  });
});

test('types go from PostgreSQL to SQLite and back, and from JSON lines into both', async () => {
  const url = inject('postgresUrl');
  const path = join(await temporaryFolder(), 'both.db');
  const verifying = await startVerifying();
  await verifying.run({
    source: postgresSource({
      url,
      query: `SELECT 7::bigint AS n, 'good@sluice.test' AS email, true AS yes, 1.5::float8 AS x, '2001-02-03'::date AS day, '\\x00ff'::bytea AS bytes, E'a\\tb' AS text, NULL::int AS none`,
    }),
    sink: sqliteSink({ url: path, into: 'both', key: 'n' }),
    email: ['email'],
  });
  await verifying.run({
    source: sqliteSource({
      url: path,
      query: 'SELECT n, email, yes, x, day, bytes, text, none FROM both',
    }),
    sink: postgresSink({ url, into: 'from_sqlite', key: 'n' }),
    email: ['email'],
  });
  expect(
    await askPostgres(
      'SELECT n, yes, x, day, bytes, text, none, pg_typeof(n)::text AS tn, email_valid FROM from_sqlite',
    ),
  ).toEqual([
    {
      n: '7',
      yes: true,
      x: 1.5,
      day: '2001-02-03',
      bytes: Buffer.from([0, 255]),
      text: 'a\tb',
      none: null,
      tn: 'bigint',
      email_valid: true,
    },
  ]);
  const jsonl = join(await temporaryFolder(), 'list.jsonl');
  await writeFile(
    jsonl,
    '{"n": 1, "email": "good@sluice.test", "yes": true, "nested": [1]}\n{"n": 2.5, "email": null, "yes": null, "nested": null}\n',
  );
  await verifying.run({
    source: fileSource(jsonl),
    sink: postgresSink({ url, into: 'from_jsonl' }),
    email: ['email'],
  });
  expect(
    await askPostgres('SELECT n, yes, nested, pg_typeof(n)::text AS tn FROM from_jsonl ORDER BY n'),
  ).toEqual([
    { n: 1, yes: true, nested: [1], tn: 'double precision' },
    { n: 2.5, yes: null, nested: null, tn: 'double precision' },
  ]);
});

describe('a STRICT table in an SQLite file', () => {
  test('gets the added columns in types that it takes, night after night', async () => {
    const path = join(await temporaryFolder(), 'crm.db');
    ask(
      path,
      'CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT, age INT) STRICT',
      "INSERT INTO people VALUES (1, 'good1@sluice.test', 7), (2, 'bad2@sluice.test', NULL)",
      'SELECT 1',
    );
    const verifying = await startVerifying();
    const run = {
      source: sqliteSource({ url: path, query: 'SELECT id, email FROM people' }),
      sink: sqliteSink({ url: path, into: 'people', key: 'id' }),
      email: ['email'],
    };
    await verifying.run(run);
    await verifying.run(run);
    expect(
      ask(path, 'SELECT id, age, email_verification AS v, email_wrong AS w FROM people'),
    ).toEqual([
      { id: 1, age: 7, v: 'verified', w: 0 },
      { id: 2, age: null, v: 'verified', w: 1 },
    ]);
    const csv = join(await temporaryFolder(), 'list.csv');
    await writeFile(csv, 'id,email,age\n3,good3@sluice.test,old\n');
    const refused = await rejection(verifying.run({ ...run, source: fileSource(csv) }));
    expect(refused).toMatchObject({ code: 'invalid_option' });
    expect(refused.message).toContain(
      'a cell does not fit in column "age"; change the column\'s type',
    );
  });
});

test('columns without a type, and numbers without an end, are the same in another SQLite file', async () => {
  const path = join(await temporaryFolder(), 'from.db');
  const to = join(await temporaryFolder(), 'to.db');
  ask(
    path,
    'CREATE TABLE t (id INTEGER PRIMARY KEY, email TEXT, x REAL, u)',
    "INSERT INTO t VALUES (1, 'good@sluice.test', 9e999, 5), (2, '', -9e999, 'five'), (3, NULL, 0.5, x'05'), (4, NULL, NULL, 1.5), (5, NULL, NULL, '')",
    'SELECT 1',
  );
  const verifying = await startVerifying();
  const source = sqliteSource({ url: path, query: 'SELECT *, id + 0 AS n FROM t' });
  await verifying.run({ source, sink: sqliteSink({ url: to, into: 't' }), email: ['email'] });
  const cells = 'id, quote(x) AS x, typeof(u) AS type, quote(u) AS u';
  expect(ask(to, `SELECT ${cells} FROM t`)).toEqual(ask(path, `SELECT ${cells} FROM t`));
  expect(ask(to, 'SELECT typeof(n) AS n FROM t LIMIT 1')).toEqual([{ n: 'integer' }]);
  const csv = join(await temporaryFolder(), 'out.csv');
  await verifying.run({ source, sink: fileSink(csv), email: ['email'] });
  expect(await readFile(csv, 'utf8')).toContain('1,good@sluice.test,Infinity,5,1,verified');
});
