import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/process/exit-code.js';
import { fileSink, rowsSource, type Sink } from '../../../../src/index.js';
import { withFolder } from '../../../service/with-service.js';
import { connect } from '../../../../src/lists/sql/mysql/connect.js';
import { tryDefinitions } from '../../../../src/lists/sql/mysql/statements.js';
import type { TablePlan } from '../../../../src/lists/sql/tables/table-plan.js';
import { newName } from '../harness/new-name.js';
import { askMysql } from './ask-mysql.js';
import { rejection } from '../harness/rejection.js';
import { describeDatabase } from '../suite/describe-database.js';
import { startVerifying } from '../harness/verify-rows.js';
import { mariadb } from './mysql-database.js';

describeDatabase(mariadb);

test.each([
  ['an index that a temporary table cannot have', ', FULLTEXT (email))'],
  ['partitions', ') PARTITION BY HASH (id) PARTITIONS 2'],
  ['zeros for a date by default', ", born DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00')"],
])('a table with %s gets its columns', async (_, end) => {
  const { ask, sink, source, table } = await mariadb.open();
  await ask(
    "SET SESSION sql_mode = ''",
    `CREATE TABLE ${table} (id INT PRIMARY KEY, email VARCHAR(80)${end}`,
    `INSERT INTO ${table} (id, email) VALUES (1, 'good1@sluice.test')`,
  );
  const run = { source: source(`SELECT id, email FROM ${table}`), sink: sink({ key: 'id' }) };
  await (await startVerifying()).run({ ...run, email: ['email'] });
  expect(await ask(`SELECT email_valid AS v FROM ${table}`)).toEqual([{ v: 1 }]);
});

test('a run whose table of markers another run makes in this moment goes on', async () => {
  const schema = newName();
  await askMysql(`CREATE DATABASE ${schema}`);
  const connection = await connect(inject('mysqlUrl'), 'look');
  const name = { within: [schema], table: 'people' };
  const plan = { target: `${schema}.people`, name, missing: [] } as unknown as TablePlan;
  try {
    expect(await tryDefinitions(connection, plan, 'missing')).toMatchObject({ withheld: [] });
    await askMysql(`CREATE TABLE ${schema}.sluice_runs (run INT)`);
    expect(await tryDefinitions(connection, plan, 'missing')).toMatchObject({ withheld: [] });
  } finally {
    await connection.close();
  }
});

test('a user who makes no tables adds its column to the table of markers that an earlier version has made', async () => {
  const grants = ['INSERT', 'UPDATE', 'ALTER', 'DELETE', 'older markers'];
  const { url, schema } = (await mariadb.server?.rights.makeUser(grants)) ?? {
    url: '',
    schema: '',
  };
  const { sink } = await mariadb.open();
  const verifying = await startVerifying();
  await verifying.run({
    source: rowsSource([{ id: 1, email: 'good1@sluice.test' }]),
    sink: sink({ url, into: `${schema}.people`, key: 'id' }),
    email: ['email'],
  });
  const written = `SELECT 1 FROM ${schema}.sluice_runs WHERE result_columns <> ''`;
  expect(await askMysql(written)).toHaveLength(1);
});

test('a key whose cells print rounded is refused before anything is paid', async () => {
  const { ask, sink, source, table } = await mariadb.open();
  await ask(
    `CREATE TABLE ${table} (code FLOAT PRIMARY KEY, email VARCHAR(80))`,
    `INSERT INTO ${table} VALUES (123456.789, 'good1@sluice.test')`,
  );
  const verifying = await startVerifying();
  const run = verifying.run({
    source: source(`SELECT code, email FROM ${table}`),
    sink: sink({ key: 'code' }),
    email: ['email'],
  });
  expect(await rejection(run)).toMatchObject({ name: 'ConfigurationError' });
  expect(await verifying.charges()).toBe(0);
});

test('a float is reported to lose digits in another table or a file, and not where its rows come from', async () => {
  const { ask, sink, source, table } = await mariadb.open();
  await ask(
    `CREATE TABLE ${table} (id INT PRIMARY KEY, email VARCHAR(80), ratio FLOAT)`,
    `INSERT INTO ${table} VALUES (1, 'good1@sluice.test', 123456.789)`,
  );
  const verifying = await startVerifying();
  const codesInto = async (output: Sink): Promise<readonly unknown[]> => {
    const codes: unknown[] = [];
    await verifying.run({
      source: source(`SELECT id, email, ratio FROM ${table}`),
      sink: output,
      email: ['email'],
      onProgress: (progress) => {
        if (progress.stage === 'notice') codes.push(progress.code);
      },
    });
    return codes;
  };
  expect(await codesInto(sink({ into: `${table}_copy`, key: 'id' }))).toContain('float_rounded');
  expect(await codesInto(fileSink(join(await withFolder(), 'made.csv')))).toContain(
    'float_rounded',
  );
  expect(await codesInto(sink({ key: 'id' }))).not.toContain('float_rounded');
});

test('a table that keeps its history is refused before anything is paid, unless it has the columns', async () => {
  const { ask, sink, table } = await mariadb.open();
  await ask(`CREATE TABLE ${table} (id INT PRIMARY KEY, email TEXT) WITH SYSTEM VERSIONING`);
  const verifying = await startVerifying();
  const run = async () =>
    verifying.run({
      source: rowsSource([{ id: 1, email: 'good1@sluice.test' }]),
      sink: sink({ key: 'id' }),
      email: ['email'],
      columns: ['valid'],
    });
  expect(await rejection(run())).toMatchObject({ name: 'ConfigurationError' });
  expect(await verifying.charges()).toBe(0);
  await ask(
    `SET STATEMENT system_versioning_alter_history = KEEP FOR ALTER TABLE ${table} ADD COLUMN email_valid BOOLEAN`,
  );
  expect((await run()).rows).toBe(1);
});

test('a zero is a key where the server gives out numbers', async () => {
  const { ask, sink, table } = await mariadb.open();
  await ask(`CREATE TABLE ${table} (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(80))`);
  const verifying = await startVerifying();
  await verifying.run({
    source: rowsSource([{ id: 0, email: 'good1@sluice.test' }]),
    sink: sink({ key: 'id' }),
    email: ['email'],
  });
  expect(await ask(`SELECT id FROM ${table}`)).toEqual([{ id: 0 }]);
});

test('a table of an engine without transactions is refused for that, before anything is paid', async () => {
  const { ask, sink, source, table } = await mariadb.open();
  await ask(`CREATE TABLE ${table} (id INT PRIMARY KEY, email VARCHAR(80)) ENGINE=MyISAM`);
  const verifying = await startVerifying();
  const run = verifying.run({
    source: source("SELECT 1 AS id, 'good1@sluice.test' AS email"),
    sink: sink({ key: 'id' }),
    email: ['email'],
  });
  expect((await rejection(run)).message).toContain('MyISAM');
  expect(await verifying.charges()).toBe(0);
});

test('a key is one in capitals where the table takes capitals for small letters', async () => {
  const { ask, sink, table } = await mariadb.open();
  await ask(`CREATE TABLE ${table} (email VARCHAR(80) COLLATE utf8mb4_general_ci PRIMARY KEY)`);
  const verifying = await startVerifying();
  const run = (into: string) =>
    verifying.run({
      source: rowsSource(['ann@sluice.test', 'Ann@sluice.test'].map((email) => ({ email }))),
      sink: sink({ into, key: 'email' }),
      email: ['email'],
    });
  expect((await rejection(run(table))).message).toMatch(/\b1\b.*\b2\b.*"email"/);
  expect(await verifying.charges()).toBe(0);
  // A table that is made tells them apart.
  expect((await run(`${table}_made`)).rows).toBe(2);
});

test('an empty member of an enumeration and an empty set stay what they are', async () => {
  const { ask, sink, source, table } = await mariadb.open();
  const other = `${table}_other`;
  await ask(
    `CREATE TABLE ${table} (id INT PRIMARY KEY, email VARCHAR(80), e ENUM('a', ''), s SET('x'), n ENUM('a'))`,
    `INSERT INTO ${table} VALUES (1, 'good1@sluice.test', '', '', NULL)`,
    `CREATE TABLE ${other} LIKE ${table}`,
  );
  const verifying = await startVerifying();
  await verifying.run({
    source: source(`SELECT * FROM ${table}`),
    sink: sink({ into: other, key: 'id' }),
    email: ['email'],
  });
  expect(await ask(`SELECT e, s, n FROM ${other}`)).toEqual([{ e: '', s: '', n: null }]);
});

test.each([1000, 1010, 1100])(
  'a new table of %i columns and the results is made, or refused before anything is sent',
  async (width) => {
    const { sink } = await mariadb.open();
    const columns = Array.from({ length: width - 1 }, (_, at) => [`c${at}`, true] as const);
    const source = rowsSource([{ email: 'good@sluice.test', ...Object.fromEntries(columns) }]);
    const verifying = await startVerifying();
    const running = verifying.run({ source, sink: sink(), email: ['email'] });
    if (width === 1000) return expect((await running).rows).toBe(1);
    const error = await rejection(running);
    expect(exitCodeOf(error)).toBe(2);
    expect(error.message).toMatch(/too many columns/i);
    expect(await verifying.charges()).toBe(0);
  },
);

test('bytes that are no text are a key', async () => {
  const { ask, sink, source, table } = await mariadb.open();
  await ask(
    `CREATE TABLE ${table} (id BINARY(3) PRIMARY KEY, email VARCHAR(80))`,
    `INSERT INTO ${table} VALUES (x'00ff41', 'good1@sluice.test'), (x'00fe41', 'bad2@sluice.test')`,
  );
  const run = { source: source(`SELECT id, email FROM ${table}`), sink: sink({ key: 'id' }) };
  await (await startVerifying()).run({ ...run, email: ['email'] });
  expect(await ask(`SELECT hex(id) AS id, email_valid AS v FROM ${table} ORDER BY id`)).toEqual([
    { id: '00FE41', v: 0 },
    { id: '00FF41', v: 1 },
  ]);
});
