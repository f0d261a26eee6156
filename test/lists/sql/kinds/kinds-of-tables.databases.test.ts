import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { describe, expect, inject, test } from 'vitest';
import { duckdbSink, duckdbSource } from '../../../../src/lists/sql/duckdb/index.js';
import { mysqlSink, mysqlSource } from '../../../../src/lists/sql/mysql/index.js';
import { postgresSink, postgresSource } from '../../../../src/lists/sql/postgres/index.js';
import { sqliteSink } from '../../../../src/lists/sql/sqlite/index.js';
import { fileSink, fileSource, JsonText, rowsSource, type Sink } from '../../../../src/index.js';
import { carry, readAll } from '../harness/carry.js';
import { askDuckdb } from '../duckdb/ask-duckdb.js';
import { askMysql } from '../mysql/ask-mysql.js';
import { askPostgres } from '../postgres/ask-postgres.js';
import { rejection } from '../harness/rejection.js';
import { askSqlite } from '../sqlite/ask-sqlite.js';
import { startVerifying } from '../harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';

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
    const reported = await carry(fromPostgres(typed + limit), fileSink(path));
    expect(reported).toEqual([['iv', 'interval']]);
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

  test('has values that no other calendar has as text, and that is reported', async () => {
    const path = join(await withFolder(), 'out.parquet');
    const query =
      "SELECT 'infinity'::date AS day, 'NaN'::numeric AS d UNION ALL SELECT '2024-02-29', 1.5";
    const reports = await carry(fromPostgres(query), fileSink(path));
    expect(reports).toEqual([
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
    const reported = await carry(
      fromPostgres("SELECT 'a' AS email, 1.50::numeric(10,2) AS d"),
      sqliteSink({ url, into: 'list' }),
    );
    expect(reported).toEqual([['d', 'decimal(10,2)']]);
    expect(askSqlite(url, 'SELECT d, typeof(d) AS t FROM list')).toEqual([
      { d: '1.50', t: 'text' },
    ]);
  });
});

describe('a new table', () => {
  test('of MariaDB has times with as many digits as before', async () => {
    await askMysql(
      'DROP TABLE IF EXISTS clocks, clocks_out',
      'CREATE TABLE clocks (email TEXT, t TIME, at DATETIME, fine DATETIME(6), ts TIMESTAMP(3) NULL)',
      "INSERT INTO clocks VALUES ('a', '10:20', '2024-02-29', '2024-02-29', '2024-02-29')",
    );
    const url = inject('mysqlUrl');
    const source = mysqlSource({ url, query: 'SELECT * FROM clocks' });
    await carry(source, mysqlSink({ url, into: 'clocks_out' }));
    const query = 'SELECT t, at, fine, ts FROM clocks_out';
    expect(await readAll(mysqlSource({ url, query }))).toEqual([
      [
        '10:20:00',
        '2024-02-29 00:00:00',
        '2024-02-29 00:00:00.000000',
        '2024-02-29 00:00:00.000+00',
      ],
    ]);
  });

  test('of DuckDB has what was read of another one', async () => {
    const folder = await withFolder();
    const query = `SELECT '\ufeffx' AS s, 0.5::DECIMAL(3,3) AS d, '-0'::DOUBLE AS f, '1.50'::JSON AS j, ['\\x00\\x5Cab'::BLOB] AS l
      UNION ALL SELECT NULL, -0.5, 1, '"1.50"', NULL`;
    const url = join(folder, 'out.duckdb');
    const rows = await readAll(duckdbSource({ url: 'duckdb::memory:', query }));
    expect(rows).toEqual([
      ['\ufeffx', '0.500', -0, new JsonText('1.50'), new JsonText(String.raw`["\\x00\\x5Cab"]`)],
      [null, '-0.500', 1, new JsonText('"1.50"'), null],
    ]);
    await carry(duckdbSource({ url: 'duckdb::memory:', query }), duckdbSink({ url, into: 'list' }));
    expect(await readAll(duckdbSource({ url, query: 'FROM list' }))).toEqual(rows);
  });
});

describe('a table with columns of text', () => {
  const definition = 'id INT PRIMARY KEY, yes VARCHAR(9), n VARCHAR(9), bytes VARCHAR(9)';
  const rows = [{ id: 1, yes: true, n: 1.5, bytes: Buffer.from('abc') }];
  const texts = [{ yes: 'true', n: '1.5', bytes: 'abc' }];
  const look = 'SELECT yes, n, bytes FROM flags_in_text';
  const made = ['DROP TABLE IF EXISTS flags_in_text', `CREATE TABLE flags_in_text (${definition})`];
  const options = { into: 'flags_in_text', key: 'id' } as const;

  test.each<[string, (folder: string) => Promise<{ sink: Sink; found: () => unknown }>]>([
    [
      'PostgreSQL',
      async () => {
        for (const sql of made) await askPostgres(sql);
        const sink = postgresSink({ url: inject('postgresUrl'), ...options });
        return { sink, found: () => askPostgres(look) };
      },
    ],
    [
      'MariaDB',
      async () => {
        await askMysql(...made);
        const sink = mysqlSink({ url: inject('mysqlUrl'), ...options });
        return { sink, found: () => askMysql(look) };
      },
    ],
    [
      'SQLite',
      async (folder) => {
        const url = join(folder, 'out.db');
        for (const sql of made) askSqlite(url, sql, 'SELECT 1');
        return { sink: sqliteSink({ url, ...options }), found: () => askSqlite(url, look) };
      },
    ],
    [
      'DuckDB',
      async (folder) => {
        const url = join(folder, 'out.duckdb');
        await askDuckdb(url, ...made);
        return { sink: duckdbSink({ url, ...options }), found: () => askDuckdb(url, look) };
      },
    ],
  ])('of %s gets flags and bytes as the text that they are', async (_, open) => {
    const { sink, found } = await open(await withFolder());
    await carry(rowsSource(rows), sink);
    expect(await found()).toEqual(texts);
  });

  test('of PostgreSQL gets flags of its own as text, too', async () => {
    for (const sql of made) await askPostgres(sql);
    const sink = postgresSink({ url: inject('postgresUrl'), ...options });
    const query = "SELECT 1 AS id, true AS yes, 1.5 AS n, 'abc'::bytea AS bytes";
    await carry(fromPostgres(query), sink);
    expect(await askPostgres(look)).toEqual(texts);
  });

  test('gets the flags of a result as text', async () => {
    await askPostgres('DROP TABLE IF EXISTS results_in_text');
    await askPostgres(
      'CREATE TABLE results_in_text (id int PRIMARY KEY, email text, email_valid text, email_wrong text)',
    );
    const { run } = await startVerifying();
    await run({
      source: rowsSource([{ id: 1, email: 'good@sluice.test' }]),
      sink: postgresSink({ url: inject('postgresUrl'), into: 'results_in_text', key: 'id' }),
      email: ['email'],
      columns: ['valid', 'wrong'],
    });
    expect(await askPostgres('SELECT email_valid, email_wrong FROM results_in_text')).toEqual([
      { email_valid: 'true', email_wrong: 'false' },
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
    expect(error).toMatchObject({ code: 'invalid_option', column: 'place', fault: 'unsupported' });
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

  test('has texts of a choice, zeros in front, bits as numbers, and addresses in bytes', async () => {
    await askMysql(
      'DROP TABLE IF EXISTS odd_types',
      "CREATE TABLE odd_types (email VARBINARY(40), size ENUM('2', '1'), tags SET('x', 'y'), post INT(5) ZEROFILL, bits BIT(10), born YEAR)",
      "INSERT INTO odd_types VALUES ('good@sluice.test', '2', 'x,y', 812, 65, 1999)",
    );
    const path = join(await withFolder(), 'out.csv');
    const { run } = await startVerifying();
    await run({
      source: query('SELECT * FROM odd_types'),
      sink: fileSink(path),
      email: ['email'],
      columns: ['valid'],
    });
    expect(await readFile(path, 'utf8')).toBe(
      'email,size,tags,post,bits,born,email_valid\ngood@sluice.test,2,"x,y",00812,65,1999,true\n',
    );
  });

  test('gets them back, and refuses a number that is none of the texts', async () => {
    const folder = await withFolder();
    await askMysql(
      'DROP TABLE IF EXISTS odd_types_in',
      "CREATE TABLE odd_types_in (id INT PRIMARY KEY, size ENUM('2', '1', 'XL'), tags SET('x', 'y'), post INT(5) ZEROFILL, bits BIT(10))",
    );
    const sink = mysqlSink({ url: inject('mysqlUrl'), into: 'odd_types_in', key: 'id' });
    const write = async (row: string) => {
      await writeFile(join(folder, 'in.csv'), `id,size,tags,post,bits\n${row}\n`);
      return carry(fileSource(join(folder, 'in.csv')), sink);
    };
    await write('1,2,"x,y",00812,65');
    await carry(rowsSource([{ id: 2, size: 1, tags: 'y', post: 813, bits: 1 }]), sink);
    expect(
      await askMysql(
        'SELECT size, tags, CAST(post AS CHAR) AS post, bits + 0 AS bits FROM odd_types_in',
      ),
    ).toEqual([
      { size: '2', tags: 'x,y', post: '00812', bits: 65 },
      { size: '1', tags: 'y', post: '00813', bits: 1 },
    ]);
    const error = await rejection(write('3,3,x,1,1'));
    expect(error).toMatchObject({ code: 'output_failed', column: 'size', rows: [1] });
  });

  test('keeps moments, large integers and bytes, and has zeros for a date as text', async () => {
    await askMysql(
      'DROP TABLE IF EXISTS zeros, zeros_out',
      "SET sql_mode = '', time_zone = '+00:00'",
      'CREATE TABLE zeros (email TEXT, day DATE, at TIMESTAMP NULL, n BIGINT UNSIGNED, bytes BLOB)',
      "INSERT INTO zeros VALUES ('a', '0000-00-00', '2024-02-29 10:20:30', 18446744073709551615, x'00FF')",
    );
    const reported = await carry(
      query('SELECT * FROM zeros'),
      postgresSink({ url: inject('postgresUrl'), into: 'zeros' }),
    );
    expect(reported).toEqual([['day', 'date']]);
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
      'timestamp',
      'bigint(20) unsigned',
      'longblob',
    ]);
  });

  test('has moments that its type does not reach as text', async () => {
    await askMysql('DROP TABLE IF EXISTS far_out');
    const reported = await carry(
      fromPostgres("SELECT 'a' AS email, '2100-01-01 00:00+00'::timestamptz AS at"),
      mysqlSink({ url: inject('mysqlUrl'), into: 'far_out' }),
    );
    expect(reported).toEqual([['at', 'timestamp with zone']]);
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
