import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { duckdbSink, duckdbSource } from '../../../src/databases/duckdb/index.js';
import { postgresSink, postgresSource } from '../../../src/databases/postgres/index.js';
import { fileSink, fileSource, streamRun, type Source } from '../../../src/index.js';
import { JsonText } from '../../../src/rows/json-text.js';
import { changeFirst } from '../change-first.js';
import { askPostgres } from '../postgres/ask-postgres.js';
import { readAll } from '../read-all.js';
import { rejection } from '../rejection.js';
import { startVerifying, temporaryFolder } from '../verify-rows.js';
import { writeTwiceKilled } from '../write-twice-killed.js';
import { askDuckdb } from './ask-duckdb.js';

const query = (path: string, text: string): Source => duckdbSource({ url: path, query: text });

async function makePeople(rows = 5): Promise<string> {
  const path = join(await temporaryFolder(), 'crm.duckdb');
  await askDuckdb(
    path,
    "CREATE TABLE people (id INTEGER PRIMARY KEY, email VARCHAR, note VARCHAR NOT NULL DEFAULT 'kept')",
    `INSERT INTO people (id, email) SELECT i, (CASE WHEN i % 3 = 0 THEN 'bad' ELSE 'good' END) || i || '@sluice.test' FROM range(1, ${rows + 1}) t(i)`,
  );
  return path;
}

/** A process that has the file open until it is killed. */
async function holdOpen(path: string): Promise<ChildProcess> {
  const program = `const { DuckDBInstance } = await import('@duckdb/node-api');
    globalThis.held = await DuckDBInstance.create(${JSON.stringify(path)});
    console.log('open');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  return child;
}

describe('rows of a DuckDB file', () => {
  test('have the values that the file has', async () => {
    const rows = await readAll(
      query(
        ':memory:',
        `SELECT 1::INTEGER, 9007199254740993::BIGINT, 170141183460469231731687303715884105727::HUGEINT,
          1.50::DECIMAL(10,2), 0.1::FLOAT, 'nan'::DOUBLE, '-inf'::DOUBLE, true, false, NULL::VARCHAR, '',
          'a' || chr(9) || 'b' || chr(10) || '\\N "🎈', '{"k": [1]}'::JSON, '\\x00\\xFF'::BLOB,
          '2026-11-21 10:00:00+02'::TIMESTAMPTZ, '2026-11-21 10:00:00.5'::TIMESTAMP, '2001-02-03'::DATE,
          [1, 2], {'a': 1, 'b': ['x']}, MAP {'k': 1}, 'x'::ENUM('x', 'y'), INTERVAL 3 DAY,
          1 AS id, 2 AS id;`,
      ),
    );
    expect(rows).toEqual([
      [
        1,
        9007199254740993n,
        170141183460469231731687303715884105727n,
        '1.50',
        0.1,
        NaN,
        -Infinity,
        true,
        false,
        null,
        '',
        'a\tb\n\\N "🎈',
        new JsonText('{"k": [1]}'),
        Buffer.from([0, 255]),
        '2026-11-21 08:00:00+00',
        '2026-11-21 10:00:00.5',
        '2001-02-03',
        new JsonText('[1,2]'),
        new JsonText('{"a":1,"b":["x"]}'),
        new JsonText('{"k":1}'),
        'x',
        'P3D',
        1,
        2,
      ],
    ]);
  });

  test('come in order, some at a time, and may be none', async () => {
    const many = await readAll(
      query(':memory:', 'SELECT i FROM range(50000) t(i) ORDER BY i DESC -- all'),
    );
    expect(many.map(([i]) => i)).toEqual(Array.from({ length: 50_000 }, (_, at) => 49_999 - at));
    const none = await query(':memory:', 'SELECT 1 AS one WHERE false').open({ wanted: () => [] });
    expect(none.header).toEqual(['one']);
    expect(await readAll(query(':memory:', 'SELECT 1 AS one WHERE false'))).toEqual([]);
    expect(await readAll(query(':memory:', 'FROM range(2)'))).toEqual([[0], [1]]);
  });

  test('may stand in a Parquet file, written by Sluice or by DuckDB', async () => {
    const folder = await temporaryFolder();
    const [own, other] = [join(folder, 'own.parquet'), join(folder, 'other.parquet')];
    await writeFile(join(folder, 'list.csv'), 'id,email\n1,good1@sluice.test\n2,bad@sluice.test\n');
    const verifying = await startVerifying();
    await verifying.run({
      source: fileSource(join(folder, 'list.csv')),
      sink: fileSink(own, { format: 'parquet' }),
      email: ['email'],
    });
    await askDuckdb(':memory:', `COPY (SELECT * FROM '${own}') TO '${other}' (FORMAT parquet)`);
    for (const path of [own, other]) {
      expect(
        await readAll(
          query(':memory:', `SELECT id, email, email_valid, email_wrong FROM '${path}'`),
        ),
      ).toEqual([
        ['1', 'good1@sluice.test', true, false],
        ['2', 'bad@sluice.test', false, true],
      ]);
    }
  });

  test('that fail in the middle are no end, and show no cell', async () => {
    const failing =
      "SELECT CASE WHEN i = 60000 THEN 'private cell'::INTEGER ELSE i END FROM range(100000) t(i)";
    const error = await rejection(readAll(query(':memory:', failing)));
    expect(error).toMatchObject({ code: 'input_unreadable' });
    expect(error.message).toContain('a cell does not fit');
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('private cell');
  });

  test('pass an abort on untouched, and let go of the file', async () => {
    const path = await makePeople();
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = await query(path, 'SELECT p.id, r.i FROM range(3000000) r(i), people p').open({
      wanted: () => [],
      signal: controller.signal,
    });
    const chunks = reading.chunks[Symbol.asyncIterator]();
    await chunks.next();
    controller.abort(reason);
    await expect(
      (async () => {
        while ((await chunks.next()).done !== true);
      })(),
    ).rejects.toBe(reason);
    const again = await query(path, 'SELECT p.id FROM range(3000000), people p').open({
      wanted: () => [],
    });
    for await (const chunk of again.chunks) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(await askDuckdb(path, 'SELECT count(*)::INTEGER AS n FROM people')).toEqual([{ n: 5 }]);
  });

  test.each([
    ['a file that is not there', 'nowhere.duckdb', 'SELECT 1', 'input_unreadable', /no such file/],
    ['a file that is none', 'junk.duckdb', 'SELECT 1', 'input_unreadable', /no DuckDB database/],
    [
      'a table that is not there',
      'good.duckdb',
      'SELECT * FROM t',
      'invalid_option',
      /Table with name t does not exist/,
    ],
    [
      'a column that is not there',
      'good.duckdb',
      'SELECT x FROM people',
      'invalid_option',
      /column "x" not found/,
    ],
    ['a statement that is none', 'good.duckdb', 'SELEKT 1', 'invalid_option', /syntax error/],
    [
      'a statement that changes something',
      'good.duckdb',
      'CREATE TABLE made (a INT)',
      'invalid_option',
      /syntax error/,
    ],
    [
      'a further statement',
      'good.duckdb',
      'SELECT 1; DROP TABLE people',
      'invalid_option',
      /syntax error/,
    ],
    [
      'a warehouse file that is not there',
      'good.duckdb',
      "SELECT * FROM 'nowhere.parquet'",
      'input_unreadable',
      /No files found.*nowhere/,
    ],
    [
      'a warehouse file that is cut short',
      'good.duckdb',
      "SELECT * FROM 'FOLDER/cut.parquet'",
      'input_unreadable',
      /No magic bytes/,
    ],
  ])('%s is said', async (_, file, text, code, words) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'junk.duckdb'), 'no database at all. '.repeat(2000));
    await writeFile(join(folder, 'cut.parquet'), `PAR1${'x'.repeat(1000)}`);
    await askDuckdb(join(folder, 'good.duckdb'), 'CREATE TABLE people (id INTEGER)');
    const error = await rejection(
      readAll(query(join(folder, file), text.replace('FOLDER', folder))),
    );
    expect(error.message).toMatch(words);
    expect(error).toMatchObject({ code });
    expect(
      await askDuckdb(join(folder, 'good.duckdb'), 'SELECT table_name AS t FROM duckdb_tables()'),
    ).toEqual([{ t: 'people' }]);
    expect(await readdir(folder)).toHaveLength(3);
  });
});

describe('a table in a DuckDB file', () => {
  test('is made with the types of the query, and booleans for flags', async () => {
    const path = await makePeople();
    const verifying = await startVerifying();
    await verifying.run({
      source: query(
        path,
        "SELECT id, email, id = 1 AS first, 1.50::DECIMAL(10,2) AS d, [id] AS l, {'a': id} AS s, MAP {'k': id} AS m, '\\xAA'::BLOB AS b, 'x'::ENUM('x', 'y') AS e, '{\"j\": 1}'::JSON AS j, '2026-11-21 10:00:00+00'::TIMESTAMPTZ AS ts FROM people ORDER BY id",
      ),
      sink: duckdbSink({ url: `duckdb:${path}`, into: `"odd"" name"`, key: 'id' }),
      email: ['email'],
    });
    expect(
      await askDuckdb(
        path,
        "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_index) AS types FROM duckdb_columns() WHERE table_name = 'odd\" name' AND column_index <= 16",
      ),
    ).toEqual([
      {
        types:
          "id INTEGER, email VARCHAR, first BOOLEAN, d DECIMAL(10,2), l INTEGER[], s STRUCT(a INTEGER), m MAP(VARCHAR, INTEGER), b BLOB, e ENUM('x', 'y'), j JSON, ts TIMESTAMP WITH TIME ZONE, email_verification VARCHAR, email_reason VARCHAR, email_valid BOOLEAN, email_wrong BOOLEAN, email_unknown BOOLEAN",
      },
    ]);
    expect(
      await askDuckdb(
        path,
        `SELECT id, email_valid AS v, first, d::VARCHAR AS d, l::VARCHAR AS l, s.a AS a, m['k'] AS m, hex(b) AS b, e::VARCHAR AS e, j->>'j' AS j, ts = '2026-11-21 10:00:00+00' AS ts FROM "odd"" name" LIMIT 3`,
      ),
    ).toEqual(
      [1, 2, 3].map((id) => ({
        id,
        v: id < 3,
        first: id === 1,
        d: '1.50',
        l: `[${id}]`,
        a: id,
        m: id,
        b: 'AA',
        e: 'x',
        j: '1',
        ts: true,
      })),
    );
    const standing = await rejection(
      verifying.run({
        source: query(path, 'SELECT id, email FROM people'),
        sink: duckdbSink({ url: path, into: 'people' }),
        email: ['email'],
      }),
    );
    expect(standing.message).toContain('is there already');
  });

  test('is updated by a key, and its own rows get the added columns alone', async () => {
    const path = await makePeople();
    const csv = join(await temporaryFolder(), 'list.csv');
    await writeFile(csv, 'id,email\n4,good40@sluice.test\n6,bad@sluice.test\n');
    const verifying = await startVerifying();
    await verifying.run({
      source: fileSource(csv),
      sink: duckdbSink({ url: path, into: 'main.people', key: 'id' }),
      email: ['email'],
    });
    const sink = duckdbSink({ url: path, into: 'people', key: 'id' });
    await verifying.run({
      source: query(path, 'SELECT * FROM people WHERE id < 4'),
      sink: changeFirst(sink, () =>
        askDuckdb(
          path,
          "UPDATE people SET email = 'newer@sluice.test' WHERE id = 1",
          'DELETE FROM people WHERE id = 2',
        ),
      ),
      email: ['email'],
      prefix: { email: 'checked' },
    });
    expect(
      await askDuckdb(
        path,
        'SELECT id, email, note, email_valid, checked_valid FROM people ORDER BY id',
      ),
    ).toEqual([
      { id: 1, email: 'newer@sluice.test', note: 'kept', email_valid: null, checked_valid: null },
      { id: 3, email: 'bad3@sluice.test', note: 'kept', email_valid: null, checked_valid: false },
      { id: 4, email: 'good40@sluice.test', note: 'kept', email_valid: true, checked_valid: null },
      { id: 5, email: 'good5@sluice.test', note: 'kept', email_valid: null, checked_valid: null },
      { id: 6, email: 'bad@sluice.test', note: 'kept', email_valid: false, checked_valid: null },
    ]);
  });

  test('gets a name in capitals also where capitals and small letters are the same', async () => {
    const path = await makePeople();
    await askDuckdb(
      path,
      'CREATE TABLE names (id INTEGER PRIMARY KEY, name VARCHAR COLLATE NOCASE, email VARCHAR)',
      "INSERT INTO names VALUES (1, 'ada', 'good1@sluice.test')",
    );
    const verifying = await startVerifying();
    await verifying.run({
      source: query(path, "SELECT id, 'Ada' AS name, email FROM people WHERE id = 1"),
      sink: duckdbSink({ url: path, into: 'names', key: 'id' }),
      email: ['email'],
    });
    expect(await askDuckdb(path, 'SELECT name, email_valid AS v FROM names')).toEqual([
      { name: 'Ada', v: true },
    ]);
  });

  test('is not taken for the source of rows that are not its own', async () => {
    const path = await makePeople();
    const verifying = await startVerifying();
    await verifying.run({
      // The key is the column of another: rows that are not there are added.
      source: query(path, 'SELECT id + 3 AS id, email FROM people'),
      sink: duckdbSink({ url: path, into: 'people', key: 'id' }),
      email: ['email'],
    });
    expect(await askDuckdb(path, 'SELECT count(*)::INTEGER AS n FROM people')).toEqual([{ n: 8 }]);
  });

  test.each([[{}], [{ key: 'id' }]])(
    'is not written again when killed behind the commit: %j',
    async (options) => {
      const path = await makePeople();
      await writeTwiceKilled(
        {
          source: query(path, 'SELECT id, email FROM people'),
          sink: duckdbSink({ url: path, into: 'verified', ...options }),
        },
        () => askDuckdb(path, "UPDATE verified SET email_reason = 'touched'"),
      );
      expect(
        await askDuckdb(
          path,
          "SELECT count(*)::INTEGER AS n FROM verified WHERE email_reason = 'touched'",
        ),
      ).toEqual([{ n: 5 }]);
    },
  );

  test('is as it was when a cell does not fit, and says which', async () => {
    const path = await makePeople();
    await askDuckdb(path, 'ALTER TABLE people ADD COLUMN age INTEGER');
    const csv = join(await temporaryFolder(), 'list.csv');
    await writeFile(csv, 'id,email,age\n7,good7@sluice.test,\n8,good8@sluice.test,private\n');
    const verifying = await startVerifying();
    const sink = duckdbSink({ url: path, into: 'people', key: 'id' });
    const error = await rejection(
      verifying.run({ source: fileSource(csv), sink, email: ['email'] }),
    );
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toContain(
      'a cell does not fit in column "age" of row 2: it takes INTEGER; change the column',
    );
    expect(await verifying.charges()).toBe(0);
    const columns = await askDuckdb(
      path,
      "SELECT column_name AS c FROM duckdb_columns() WHERE table_name = 'people'",
    );
    expect(columns).toHaveLength(4);
    await askDuckdb(path, 'ALTER TABLE people ALTER COLUMN age TYPE VARCHAR');
    await verifying.run({ source: fileSource(csv), sink, email: ['email'] });
    expect(
      await askDuckdb(path, 'SELECT id, age, email_valid FROM people WHERE id > 6 ORDER BY id'),
    ).toEqual([
      { id: 7, age: '', email_valid: true },
      { id: 8, age: 'private', email_valid: true },
    ]);
  });

  test.each([
    ['a file that is none', 'junk.duckdb', { into: 't' }, 'output_failed', /no DuckDB database/],
    [
      'a folder that is not there',
      'no/where.duckdb',
      { into: 't' },
      'output_failed',
      /no such file/,
    ],
    [
      'a schema that is not there',
      'crm.duckdb',
      { into: 'crm.t' },
      'invalid_option',
      /[Ss]chema.*crm/,
    ],
    ['a view', 'crm.duckdb', { into: 'view', key: 'id' }, 'invalid_option', /no table/],
    [
      'a key that is not unique',
      'crm.duckdb',
      { into: 'people', key: 'email' },
      'invalid_option',
      /unique index on email/,
    ],
    [
      'a column that the table lacks',
      'crm.duckdb',
      { into: 'people', key: 'id' },
      'column_not_found',
      /no column "extra"/,
    ],
  ])('%s is said before anything is sent', async (_, file, target, code, words) => {
    const folder = join(await makePeople(), '..');
    await askDuckdb(join(folder, 'crm.duckdb'), 'CREATE VIEW view AS SELECT * FROM people');
    await writeFile(join(folder, 'junk.duckdb'), 'no database at all. '.repeat(2000));
    const verifying = await startVerifying();
    const error = await rejection(
      verifying.run({
        source: query(':memory:', "SELECT 1 AS id, 'good@sluice.test' AS email, 2 AS extra"),
        sink: duckdbSink({ url: join(folder, file), ...target }),
        email: ['email'],
      }),
    );
    expect(error.message).toMatch(words);
    expect(error).toMatchObject({ code });
    expect(await verifying.charges()).toBe(0);
    expect((await readdir(folder)).toSorted()).toEqual(['crm.duckdb', 'junk.duckdb']);
  });

  test('another process that has the file open is named, and so is this one', async () => {
    const path = await makePeople();
    const verifying = await startVerifying();
    const run = {
      source: query(':memory:', "SELECT 1 AS id, 'good@sluice.test' AS email"),
      sink: duckdbSink({ url: path, into: 'verified' }),
      email: ['email'],
    };
    const holder = await holdOpen(path);
    const held = await rejection(verifying.run(run));
    expect(held).toMatchObject({ code: 'output_failed' });
    expect(held.message).toContain('another process has it open');
    holder.kill();
    await once(holder, 'exit');
    const { client } = verifying;
    const both = await rejection(
      streamRun({
        ...run,
        source: query(path, 'SELECT id, email FROM people'),
        client,
        country: 'US',
      }),
    );
    expect(both).toMatchObject({ code: 'invalid_option' });
    expect(both.message).toContain('open in this process already');
    expect(await verifying.charges()).toBe(0);
    expect((await verifying.run(run)).rows).toBe(1);
  });

  test('in memory is refused, and a file that is dropped again leaves nothing', async () => {
    expect(() => duckdbSink({ url: 'duckdb::memory:', into: 't' })).toThrow('name a file');
    const folder = await temporaryFolder();
    const verifying = await startVerifying();
    const sink = duckdbSink({ url: join(folder, 'new.duckdb'), into: 't' });
    const failing = new Error('no more rows');
    const source = query(':memory:', "SELECT 1 AS id, 'good@sluice.test' AS email");
    const error = await rejection(
      verifying.run({
        source,
        sink: {
          ...sink,
          async open(opening) {
            const writing = await sink.open(opening);
            return {
              ...writing,
              write: () => Promise.reject(failing),
              abort: () => writing.abort(),
              finish: () => writing.finish(),
            };
          },
        },
        email: ['email'],
      }),
    );
    expect(error).toBe(failing);
    expect(await readdir(folder)).toEqual([]);
    await verifying.run({ source, sink, email: ['email'] });
    expect(await readdir(folder)).toEqual(['new.duckdb']);
  });
});

test('types go from PostgreSQL to DuckDB and back', async () => {
  const url = inject('postgresUrl');
  const path = join(await temporaryFolder(), 'both.duckdb');
  const verifying = await startVerifying();
  await verifying.run({
    source: postgresSource({
      url,
      query: `SELECT 7::bigint AS n, 'good@sluice.test' AS email, true AS yes, 1.5::float8 AS x, 12.50::numeric AS d, '2001-02-03'::date AS day, '2026-11-21 10:00+00'::timestamptz AS seen, '\\x00ff'::bytea AS bytes, E'a\\tb' AS text, NULL::int AS none, '{"k": [1]}'::jsonb AS j`,
    }),
    sink: duckdbSink({ url: path, into: 'gathered', key: 'n' }),
    email: ['email'],
  });
  await verifying.run({
    source: query(
      path,
      'SELECT n, email, yes, x, d, day, seen, bytes, text, none, j FROM gathered',
    ),
    sink: postgresSink({ url, into: 'from_duckdb', key: 'n' }),
    email: ['email'],
  });
  expect(
    await askPostgres(
      "SELECT n, yes, x, d::float8 AS d, day::text AS day, seen = '2026-11-21 10:00+00' AS seen, bytes, text, none, j, pg_typeof(n)::text AS tn, email_valid FROM from_duckdb",
    ),
  ).toEqual([
    {
      n: '7',
      yes: true,
      x: 1.5,
      d: 12.5,
      day: '2001-02-03',
      seen: true,
      bytes: Buffer.from([0, 255]),
      text: 'a\tb',
      none: null,
      j: { k: [1] },
      tn: 'bigint',
      email_valid: true,
    },
  ]);
});
