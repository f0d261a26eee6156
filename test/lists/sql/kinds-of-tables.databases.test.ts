import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { describe, expect, inject, test } from 'vitest';
import { mysqlSink, mysqlSource } from '../../../src/lists/sql/mysql/index.js';
import { postgresSink, postgresSource } from '../../../src/lists/sql/postgres/index.js';
import { sqliteSink } from '../../../src/lists/sql/sqlite/index.js';
import { fileSink, fileSource } from '../../../src/index.js';
import { carry } from './carry.js';
import { askDuckdb } from './duckdb/ask-duckdb.js';
import { askMysql } from './mysql/ask-mysql.js';
import { askPostgres } from './postgres/ask-postgres.js';
import { rejection } from './rejection.js';
import { askSqlite } from './sqlite/ask-sqlite.js';
import { startVerifying } from './verify-rows.js';
import { withFolder } from '../../service/with-service.js';

const json = '{"a": 1.50, "n": 9007199254740993, "a": [2]}';
const fromPostgres = (query: string) => postgresSource({ url: inject('postgresUrl'), query });

async function postgresTypes(table: string): Promise<Readonly<Record<string, unknown>>> {
  const rows = await askPostgres(
    'SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0',
    [table],
  );
  return Object.fromEntries(rows.map(({ attname, type }) => [String(attname), type]));
}

async function describeParquet(path: string): Promise<unknown> {
  const rows = (await askDuckdb(':memory:', `DESCRIBE SELECT * FROM '${path}'`)) as readonly {
    readonly column_name: string;
    readonly column_type: string;
  }[];
  return Object.fromEntries(rows.map((row) => [row.column_name, row.column_type]));
}

describe('JSON', () => {
  test('of PostgreSQL is the same in JSON lines, on one line', async () => {
    const folder = await withFolder();
    const spread = json.replace(', "n"', ',\n "n"');
    await carry(fromPostgres(`SELECT '${spread}'::json AS j`), fileSink(join(folder, 'out.jsonl')));
    expect(await readFile(join(folder, 'out.jsonl'), 'utf8')).toBe(
      `{"j":${json.replace(', "n"', ',  "n"')}}\n`,
    );
  });
});

describe('dates and times without zone', () => {
  test('of a workbook and of Parquet are the same days in a new table, wherever it is read', async () => {
    const folder = await withFolder();
    const workbook = new ExcelJS.Workbook();
    const sheet = workbook.addWorksheet('List');
    sheet.addRow(['email', 'day', 'at']);
    sheet.addRow(['a@example.com', new Date('2024-02-29'), new Date('2024-02-29T10:20:30Z')]);
    await workbook.xlsx.writeFile(join(folder, 'in.xlsx'));
    await askDuckdb(
      ':memory:',
      `COPY (SELECT 'a@example.com' AS email, '2024-02-29'::DATE AS day, '2024-02-29 10:20:30'::TIMESTAMP AS at) TO '${join(folder, 'in.parquet')}' (FORMAT parquet)`,
    );
    for (const name of ['in.xlsx', 'in.parquet']) {
      const into = name.replace('.', '_');
      await carry(
        fileSource(join(folder, name)),
        postgresSink({ url: inject('postgresUrl'), into }),
      );
      expect(await postgresTypes(into)).toEqual({
        email: 'text',
        day: 'date',
        at: 'timestamp without time zone',
      });
      const [row] = await askPostgres(
        `WITH s AS MATERIALIZED (SELECT set_config('timezone', 'America/New_York', false)) SELECT day::text, at::text FROM s, ${into}`,
      );
      expect(row).toEqual({ day: '2024-02-29', at: '2024-02-29 10:20:30' });
    }
  });
});

describe('a query', () => {
  const typed = `SELECT 1::int2 AS i, 12.50::numeric(10,2) AS d, 1.5::numeric AS any_d, '2024-02-29'::date AS day,
    '2024-02-29 10:20:30'::timestamp AS ts, '2024-02-29 10:20:30+00'::timestamptz AS tz, 'P1M'::interval AS iv`;
  const types = {
    i: 'SMALLINT',
    d: 'DECIMAL(10,2)',
    any_d: 'DECIMAL(38,10)',
    day: 'DATE',
    ts: 'TIMESTAMP',
    tz: 'TIMESTAMP WITH TIME ZONE',
    iv: 'VARCHAR',
  };

  test.each([
    ['some rows', ''],
    ['none', ' LIMIT 0'],
  ])('of %s gives Parquet the types that it has', async (_, limit) => {
    const path = join(await withFolder(), 'out.parquet');
    const told = await carry(fromPostgres(typed + limit), fileSink(path));
    expect(told).toEqual([['iv', 'interval']]);
    expect(await describeParquet(path)).toEqual(types);
  });

  test('gives a workbook dates and numbers', async () => {
    const path = join(await withFolder(), 'out.xlsx');
    await carry(fromPostgres(typed), fileSink(path));
    const workbook = new ExcelJS.Workbook();
    await workbook.xlsx.readFile(path);
    const row = workbook.worksheets[0]?.getRow(2);
    expect([1, 2, 4, 5].map((at) => row?.getCell(at).value)).toEqual([
      1,
      12.5,
      new Date('2024-02-29'),
      new Date('2024-02-29T10:20:30Z'),
    ]);
    expect(row?.getCell(2).numFmt).toBe('0.00');
  });

  test('has values that no other calendar has as text, and that is told', async () => {
    const path = join(await withFolder(), 'out.parquet');
    const query =
      "SELECT 'infinity'::date AS day, 'NaN'::numeric AS d UNION ALL SELECT '2024-02-29', 1.5";
    const told = await carry(fromPostgres(query), fileSink(path));
    expect(told).toEqual([
      ['day', 'date'],
      ['d', 'decimal'],
    ]);
    expect(await askDuckdb(':memory:', `FROM '${path}'`)).toEqual([
      { day: 'infinity', d: 'NaN' },
      { day: '2024-02-29', d: '1.5' },
    ]);
  });
});

describe('SQLite', () => {
  test('has decimals as text, with their zeros', async () => {
    const folder = await withFolder();
    const url = join(folder, 'out.db');
    const told = await carry(
      fromPostgres("SELECT 'a' AS email, 1.50::numeric(10,2) AS d"),
      sqliteSink({ url, into: 'list' }),
    );
    expect(told).toEqual([['d', 'decimal(10,2)']]);
    expect(askSqlite(url, 'SELECT d, typeof(d) AS t FROM list')).toEqual([
      { d: '1.50', t: 'text' },
    ]);
  });
});

describe('MariaDB', () => {
  const query = (text: string) => mysqlSource({ url: inject('mysqlUrl'), query: text });

  test('has places refused before anything is sent, naming the column', async () => {
    await askMysql(
      'DROP TABLE IF EXISTS places',
      'CREATE TABLE places (email TEXT, place POINT)',
      "INSERT INTO places VALUES ('good@sluice.test', POINT(1, 2))",
    );
    const folder = await withFolder();
    const verifying = await startVerifying();
    const sink = fileSink(join(folder, 'out.csv'));
    const error = await rejection(
      verifying.run({ source: query('SELECT * FROM places'), sink, email: ['email'] }),
    );
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toContain('column "place" holds places or shapes');
    expect(await verifying.charges()).toBe(0);
    await verifying.run({
      source: query('SELECT email, ST_AsText(place) AS place FROM places'),
      sink,
      email: ['email'],
      fresh: true,
    });
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toContain(
      'good@sluice.test,POINT(1 2)',
    );
  });

  test('keeps moments, large integers and bytes, and has zeros for a date as text', async () => {
    await askMysql(
      'DROP TABLE IF EXISTS zeros, zeros_out',
      "SET sql_mode = '', time_zone = '+00:00'",
      'CREATE TABLE zeros (email TEXT, day DATE, at TIMESTAMP NULL, n BIGINT UNSIGNED, bytes BLOB)',
      "INSERT INTO zeros VALUES ('a', '0000-00-00', '2024-02-29 10:20:30', 18446744073709551615, x'00FF')",
    );
    const told = await carry(
      query('SELECT * FROM zeros'),
      postgresSink({ url: inject('postgresUrl'), into: 'zeros' }),
    );
    expect(told).toEqual([['day', 'date']]);
    expect(await postgresTypes('zeros')).toEqual({
      email: 'text',
      day: 'text',
      at: 'timestamp with time zone',
      n: 'numeric(20,0)',
      bytes: 'bytea',
    });
    const [row] = await askPostgres('SELECT day, n::text FROM zeros');
    expect(row).toEqual({ day: '0000-00-00', n: '18446744073709551615' });
    await carry(
      query('SELECT * FROM zeros'),
      mysqlSink({ url: inject('mysqlUrl'), into: 'zeros_out' }),
    );
    const columns = (await askMysql('SHOW COLUMNS FROM zeros_out')) as readonly { Type: string }[];
    expect(columns.map(({ Type }) => Type)).toEqual([
      'longtext',
      'longtext',
      'timestamp(6)',
      'bigint(20) unsigned',
      'longblob',
    ]);
  });

  test('has moments that its type does not reach as text', async () => {
    await askMysql('DROP TABLE IF EXISTS far_out');
    const told = await carry(
      fromPostgres("SELECT 'a' AS email, '2100-01-01 00:00+00'::timestamptz AS at"),
      mysqlSink({ url: inject('mysqlUrl'), into: 'far_out' }),
    );
    expect(told).toEqual([['at', 'timestamp with zone']]);
    expect(await askMysql('SELECT at FROM far_out')).toEqual([{ at: '2100-01-01 00:00:00+00' }]);
  });

  test('gives JSON as such to JSON lines', async () => {
    const folder = await withFolder();
    await askMysql(
      'DROP TABLE IF EXISTS documents',
      'CREATE TABLE documents (j JSON)',
      `INSERT INTO documents VALUES ('${json}')`,
    );
    await carry(query('SELECT j FROM documents'), fileSink(join(folder, 'out.jsonl')));
    expect(await readFile(join(folder, 'out.jsonl'), 'utf8')).toBe(`{"j":${json}}\n`);
  });
});
