import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileSource } from '../../../../src/index.js';
import { duckdb } from '../duckdb/duckdb-database.js';
import { mariadb } from '../mysql/mysql-database.js';
import { postgres } from '../postgres/postgres-database.js';
import { sqlite } from '../sqlite/sqlite-database.js';
import { startVerifying } from '../harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';

test.each([
  [sqlite, 'n, email, yes, x, day, bytes, text, none', {}],
  [
    duckdb,
    'n, email, yes, x, day, bytes, text, none, d, seen, j',
    { d: 12.5, seen: true, j: { k: [1] } },
  ],
])('types go from PostgreSQL to $name and back', async (database, columns, more) => {
  const [from, between, back] = [
    await postgres.open(),
    await database.open(),
    await postgres.open(),
  ];
  const verifying = await startVerifying();
  await verifying.run({
    source: from.source(
      `SELECT ${columns} FROM (SELECT 7::bigint AS n, 'good@sluice.test' AS email, true AS yes, 1.5::float8 AS x, 12.50::numeric AS d, '2001-02-03'::date AS day, '2026-11-21 10:00+00'::timestamptz AS seen, '\\x00ff'::bytea AS bytes, E'a\\tb' AS text, NULL::int AS none, '{"k": [1]}'::jsonb AS j) t`,
    ),
    sink: between.sink({ key: 'n' }),
    email: ['email'],
  });
  await verifying.run({
    source: between.source(`SELECT ${columns} FROM ${between.table}`),
    sink: back.sink({ key: 'n' }),
    email: ['email'],
  });
  const asked = columns
    .replace('day', 'day::text AS day')
    .replace(', d,', ', d::float8 AS d,')
    .replace('seen', "seen = '2026-11-21 10:00+00' AS seen");
  expect(
    await back.ask(`SELECT ${asked}, pg_typeof(n)::text AS tn, email_valid FROM ${back.table}`),
  ).toEqual([
    {
      n: '7',
      email: 'good@sluice.test',
      yes: true,
      x: 1.5,
      day: '2001-02-03',
      bytes: Buffer.from([0, 255]),
      text: 'a\tb',
      none: null,
      ...more,
      tn: 'bigint',
      email_valid: true,
    },
  ]);
});

test('types go from MariaDB to PostgreSQL', async () => {
  const [from, to] = [await mariadb.open(), await postgres.open()];
  await from.ask(
    `CREATE TABLE ${from.table} (id BIGINT PRIMARY KEY, email TEXT, yes BOOLEAN, d DECIMAL(10,2), day DATE, bytes BLOB)`,
    `INSERT INTO ${from.table} VALUES (1, 'good@sluice.test', true, 12.50, '2001-02-03', x'00ff')`,
  );
  await (
    await startVerifying()
  ).run({
    source: from.source(`SELECT * FROM ${from.table}`),
    sink: to.sink(),
    email: ['email'],
  });
  expect(
    await to.ask(
      `SELECT id, yes, d, bytes, pg_typeof(id)::text AS t, email_valid FROM ${to.table}`,
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

test('types go from JSON lines to PostgreSQL', async () => {
  const jsonl = join(await withFolder(), 'list.jsonl');
  await writeFile(
    jsonl,
    '{"n": 1, "email": "good@sluice.test", "yes": true, "nested": [1]}\n{"n": 2.5, "email": null, "yes": null, "nested": null}\n',
  );
  const to = await postgres.open();
  await (
    await startVerifying()
  ).run({ source: fileSource(jsonl), sink: to.sink(), email: ['email'] });
  expect(
    await to.ask(`SELECT n, yes, nested, pg_typeof(n)::text AS tn FROM ${to.table} ORDER BY n`),
  ).toEqual([
    { n: 1, yes: true, nested: [1], tn: 'double precision' },
    { n: 2.5, yes: null, nested: null, tn: 'double precision' },
  ]);
});
