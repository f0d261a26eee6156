import { inspect } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { postgresSource } from '../../../src/databases/postgres/index.js';
import type { Source } from '../../../src/index.js';
import { startCountingProxy } from '../counting-proxy.js';
import { JsonText } from '../../../src/rows/json-text.js';
import { readAll } from '../read-all.js';
import { rejection } from '../rejection.js';
import { askPostgres } from './ask-postgres.js';

const query = (text: string, url = inject('postgresUrl')): Source =>
  postgresSource({ url, query: text });

const manyRows = "SELECT i, repeat('x', 100) AS filling FROM generate_series(1, 300000) AS i";

describe('rows of a query', () => {
  test('have the values that the database has', async () => {
    const rows = await readAll(
      query(`SELECT 1::int, 9007199254740993::bigint, 1.50::numeric, 0.1::float8, 'NaN'::float4, true,
        false, NULL::text, '', E'a\\tb\\nc\\\\N\\r', '{"k": [1]}'::json, '\\x00ff'::bytea,
        '2026-11-21 10:00+02'::timestamptz, '2001-02-03'::date, '{1,2}'::int[], 'Ünïcode 🎈'`),
    );
    expect(rows).toEqual([
      [
        1,
        9007199254740993n,
        '1.50',
        0.1,
        NaN,
        true,
        false,
        null,
        '',
        'a\tb\nc\\N\r',
        new JsonText('{"k": [1]}'),
        Buffer.from([0, 255]),
        '2026-11-21 08:00:00+00',
        '2001-02-03',
        '{1,2}',
        'Ünïcode 🎈',
      ],
    ]);
  });

  test('come through a cursor where COPY does not take the statement', async () => {
    expect(await readAll(query('SHOW server_encoding'))).toEqual([['UTF8']]);
    const plan = await readAll(query('EXPLAIN SELECT 1'));
    expect(plan[0]?.[0]).toMatch(/^Result/);
  });

  test('may be none', async () => {
    const reading = await query('SELECT 1 AS one, 2 AS two WHERE false').open({ wanted: () => [] });
    expect(reading.header).toEqual(['one', 'two']);
    expect(await readAll(query('SELECT 1 AS one WHERE false'))).toEqual([]);
  });

  test('end behind a comment or a semicolon', async () => {
    expect(await readAll(query('SELECT 1 ; '))).toEqual([[1]]);
    expect(await readAll(query('SELECT 2 -- why'))).toEqual([[2]]);
  });

  test('are asked for no faster than they are taken', async () => {
    const proxy = await startCountingProxy(inject('postgresUrl'));
    const reading = await query(
      "SELECT repeat('x', 1000) FROM generate_series(1, 200000)",
      proxy.url,
    ).open({ wanted: () => [] });
    const chunks = reading.chunks[Symbol.asyncIterator]();
    await chunks.next();
    let before = -1;
    while (proxy.fromServer !== before) {
      before = proxy.fromServer;
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
    }
    // Of two hundred megabytes only what the buffers on the way take.
    expect(proxy.fromServer).toBeLessThan(40_000_000);
    await chunks.return?.();
  });

  test('let go of the server when they are not wanted any more', async () => {
    const url = inject('postgresUrl');
    const reading = await query(`/* let go */ ${manyRows}`, url).open({ wanted: () => [] });
    for await (const chunk of reading.chunks) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await expect
      .poll(() =>
        askPostgres(
          "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%/* let go */%' AND application_name = 'sluice'",
        ),
      )
      .toEqual([]);
  });
});

describe('what goes wrong', () => {
  test.each([
    ['a table that is not there', 'SELECT * FROM nowhere', /relation "nowhere" does not exist/],
    [
      'a column that is not there',
      'SELECT nothing FROM pg_class',
      /column "nothing" does not exist/,
    ],
    ['a statement that is none', 'SELEKT 1', /syntax error at or near "SELEKT"/],
    [
      'a statement that changes something',
      'CREATE TABLE made AS SELECT 1',
      /read-only transaction/,
    ],
  ])('%s is the caller’s to mend', async (_, text, words) => {
    const error = await rejection(readAll(query(text)));
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toMatch(words);
  });

  test('a wrong password is said, and no password', async () => {
    const url = new URL(inject('postgresUrl'));
    url.password = 'not-the-password';
    const error = await rejection(readAll(query('SELECT 1', url.href)));
    expect(error).toMatchObject({ code: 'input_unreadable', cause: { code: '28P01' } });
    expect(error.message).toBe(
      `cannot read postgres://postgres@${url.host}/postgres: the user or the password is refused`,
    );
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('not-the-password');
  });

  test('a dead server is said', async () => {
    const error = await rejection(readAll(query('SELECT 1', 'postgres://u:geheim@127.0.0.1:1/db')));
    expect(error).toMatchObject({ code: 'input_unreadable', cause: { code: 'ECONNREFUSED' } });
    expect(error.message).toContain('nothing listens there');
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('geheim');
  });

  test.each(['COPY', 'a cursor'])('a server lost in the middle of %s is no end', async (way) => {
    const text = way === 'COPY' ? manyRows : 'EXPLAIN ANALYZE VERBOSE SELECT pg_sleep(60)';
    const proxy = await startCountingProxy(
      inject('postgresUrl'),
      way === 'COPY' ? { cutAfterFromServer: 3_000_000 } : {},
    );
    const reading = readAll(query(text, proxy.url));
    if (way !== 'COPY') {
      await expect
        .poll(() =>
          askPostgres("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'EXPLAIN ANALYZE VERBOSE%'"),
        )
        .not.toEqual([]);
      proxy.cut();
    }
    const error = await rejection(reading);
    expect(error).toMatchObject({ code: 'input_unreadable' });
    expect(error.message).toContain('the connection was lost');
  });

  test('a backend that is shut down in the middle is no end', async () => {
    const reading = await query(`/* shut down */ ${manyRows}`).open({ wanted: () => [] });
    const chunks = reading.chunks[Symbol.asyncIterator]();
    await chunks.next();
    await askPostgres(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%/* shut down */%' AND application_name = 'sluice'",
    );
    const error = await rejection(
      (async () => {
        while ((await chunks.next()).done !== true);
      })(),
    );
    expect(error).toMatchObject({ code: 'input_unreadable' });
  });

  test('a row that fails in the middle shows no cell', async () => {
    const error = await rejection(
      readAll(
        query(
          "SELECT CASE i WHEN 50000 THEN 'private cell'::text::int ELSE i END FROM generate_series(1, 60000) i",
        ),
      ),
    );
    expect(error).toMatchObject({ code: 'input_unreadable', cause: { code: '22P02' } });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('private cell');
  });

  test('an abort passes untouched', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = await query(manyRows).open({ wanted: () => [], signal: controller.signal });
    const chunks = reading.chunks[Symbol.asyncIterator]();
    await chunks.next();
    controller.abort(reason);
    await expect(
      (async () => {
        while ((await chunks.next()).done !== true);
      })(),
    ).rejects.toBe(reason);
  });

  test('a URL that cannot be read is not quoted', () => {
    expect(() => query('SELECT 1', 'postgres://u:p%zz@ho st/')).toThrow(/cannot be read/);
    try {
      query('SELECT 1', 'postgres://u:geh@eim@:x/');
    } catch (error) {
      expect(inspect(error, { depth: Infinity })).not.toContain('geh');
    }
  });
});
