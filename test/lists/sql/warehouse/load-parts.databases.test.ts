import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, inject, test } from 'vitest';
import { duckdbSource } from '../../../../src/lists/sql/duckdb/index.js';
import {
  fileSource,
  loadStatement,
  partsSink,
  type PartsSinkOptions,
} from '../../../../src/index.js';
import type { LoadTarget } from '../../../../src/lists/sql/warehouse/load-statement.js';
import { withS3 } from '../../../servers/start-s3.js';
import { askDuckdb } from '../duckdb/ask-duckdb.js';
import { askPostgres } from '../postgres/ask-postgres.js';
import { askClickhouse } from './ask-clickhouse.js';
import { startVerifying } from '../harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';

type Format = NonNullable<PartsSinkOptions['format']>;

/** Columns of every kind: its name, a value as SQL, and the same as text. */
const columns = [
  ['email', "'good@sluice.test'", 'good@sluice.test'],
  ['Say "hi", it\'s `x`', `'a "b", ''c'' \\ ' || chr(10) || 'd'`, 'a "b", \'c\' \\ \nd'],
  ['b', 'true', 'true'],
  ['i8', '(-128)::TINYINT', '-128'],
  ['i16', '(-32768)::SMALLINT', '-32768'],
  ['i32', '(-2147483648)::INTEGER', '-2147483648'],
  ['i64', '(-9223372036854775808)::BIGINT', '-9223372036854775808'],
  ['u8', '255::UTINYINT', '255'],
  ['u16', '65535::USMALLINT', '65535'],
  ['u32', '4294967295::UINTEGER', '4294967295'],
  ['u64', '18446744073709551615::UBIGINT', '18446744073709551615'],
  ['d', '12.50::DECIMAL(10,2)', '12.50'],
  [
    'd38',
    '-1234567890123456789012345678.0000000001::DECIMAL(38,10)',
    '-1234567890123456789012345678.0000000001',
  ],
  ['f4', '0.5::FLOAT', '0.5'],
  ['f8', '0.1::DOUBLE', '0.1'],
  ['day', "'2024-02-29'::DATE", '2024-02-29'],
  ['t', "'10:20:30.123'::TIME", '10:20:30.123'],
  ['ts', "'2024-02-29 10:20:30.123'::TIMESTAMP", '2024-02-29 10:20:30.123'],
  ['tz', "'2024-02-29 10:20:30.123456+00'::TIMESTAMPTZ", '2024-02-29 10:20:30.123456+00'],
  ['id', "'0f8fad5b-d9cb-469f-a165-70867728950e'::UUID", '0f8fad5b-d9cb-469f-a165-70867728950e'],
  [
    'j',
    `'{"b": 1.50, "n": 9007199254740993, "a": [2]}'::JSON`,
    '{"b": 1.50, "n": 9007199254740993, "a": [2]}',
  ],
] as const;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Verifies a table of DuckDB, one row with values and one without, into parts. */
async function writeParts(format: Format): Promise<string> {
  const folder = await withFolder();
  const database = join(folder, 'crm.duckdb');
  const rows = [0, 1].map(
    (at) =>
      `SELECT ${at} AS n, ${columns.map(([name, sql], column) => `${at === 0 || column === 0 ? sql : `CAST(NULL AS ${typeIn(sql)})`} AS ${quoted(name)}`).join(', ')}`,
  );
  const query = `${rows.join(' UNION ALL ')} ORDER BY n`;
  await askDuckdb(database, `CREATE TABLE contacts AS ${query}`);
  const parts = join(folder, "the parts of 'us'");
  const verifying = await startVerifying();
  await verifying.run({
    source: duckdbSource({ url: database, query: 'SELECT * FROM contacts ORDER BY n' }),
    sink: partsSink(parts, { partBytes: 1_000_000, format }),
    email: ['email'],
  });
  return parts;
}

function typeIn(sql: string): string {
  return /::([A-Z(),\d]+)$/.exec(sql)?.[1] ?? (sql === 'true' ? 'BOOLEAN' : 'VARCHAR');
}

/** The rows of a table, each cell as its text. */
type Texts = readonly Readonly<Record<string, unknown>>[];

interface Target {
  readonly for: LoadTarget;
  readonly formats: readonly Format[];
  /** Runs a script, then reads columns of a table as texts, in order of `n`. */
  load(script: string, columns: readonly string[], folder: string): Promise<Texts>;
  /** What a cell's text is there, where it is another. */
  readonly prints?: Readonly<Record<string, string>>;
}

const targets: readonly Target[] = [
  {
    for: 'duckdb',
    formats: ['csv', 'tsv', 'jsonl', 'parquet'],
    async load(script, names) {
      const texts = names.map((name) => `CAST(${quoted(name)} AS VARCHAR) AS ${quoted(name)}`);
      const path = join(await withFolder(), 'loaded.duckdb');
      return (await askDuckdb(
        path,
        script,
        `SELECT ${texts.join(', ')} FROM loaded ORDER BY n`,
      )) as Texts;
    },
  },
  {
    for: 'postgres',
    formats: ['csv', 'tsv', 'jsonl'],
    async load(script, names, folder) {
      const file = join(folder, 'load.sql');
      await askPostgres('DROP TABLE IF EXISTS loaded');
      await writeFile(file, script);
      await promisify(execFile)('psql', [inject('postgresUrl'), '-X', '-q', '-f', file]);
      const texts = names.map((name) =>
        name === 'tz'
          ? `(tz AT TIME ZONE 'UTC')::text || '+00' AS tz`
          : `${quoted(name)}::text AS ${quoted(name)}`,
      );
      return askPostgres(`SELECT ${texts.join(', ')} FROM loaded ORDER BY n`);
    },
  },
  {
    for: 'clickhouse',
    formats: ['csv', 'tsv', 'jsonl', 'parquet'],
    async load(script, names) {
      const name = (text: string): string => `\`${text.replaceAll('`', '\\`')}\``;
      const texts = names.map((each) => `toString(${name(each)}) AS ${name(each)}`);
      const rows = await askClickhouse(script, `SELECT ${texts.join(', ')} FROM loaded ORDER BY n`);
      return rows;
    },
    // It prints no zone, and no zero at the end of a fraction's digits is left out.
    prints: {
      d: '12.5',
      t: '10:20:30.123000',
      ts: '2024-02-29 10:20:30.123000',
      tz: '2024-02-29 10:20:30.123456',
    },
  },
];

/** The script that merges rows of a night by their key. */
async function mergeOf(rows: readonly object[], target: LoadTarget): Promise<string> {
  const parts = join(await withFolder(), 'parts');
  const verifying = await startVerifying();
  const sink = partsSink(parts, { partBytes: 1_000_000 });
  await verifying.run({ source: rows, sink, email: ['email'] });
  return loadStatement(parts, { for: target, table: 'loaded', key: 'n' });
}

/** A list that needs more than one part, with a delimiter of its own and line ends in cells. */
async function writeManyParts(): Promise<string> {
  const folder = await withFolder();
  const lines = Array.from({ length: rowCount }, (_, at) => {
    const digest = createHash('shake256', { outputLength: 1050 }).update(`${at}`);
    const filling = digest.digest('base64');
    return `${at};good${at % 50}@sluice.test;"${filling.slice(0, 40)}${at % 3 === 0 ? '\n' : ';'}${filling.slice(40)}"\n`;
  });
  await writeFile(join(folder, 'list.csv'), `n;email;filling\n${lines.join('')}`);
  const verifying = await startVerifying();
  const parts = join(folder, 'parts');
  await verifying.run({
    source: fileSource(join(folder, 'list.csv')),
    sink: partsSink(parts, { partBytes: 1_000_000 }),
    email: ['email'],
  });
  const { length } = (await readdir(parts)).filter((name) => name.startsWith('part-'));
  expect(length).toBeGreaterThan(2);
  return parts;
}

const rowCount = 3000;

/** What is the same of all rows, read from a table that has each once. */
function expectAllRows(rows: Texts): void {
  expect(rows).toHaveLength(rowCount);
  expect(new Set(rows.map(({ n }) => n)).size).toBe(rowCount);
  expect(rows.filter(({ filling }) => String(filling).includes('\n'))).toHaveLength(rowCount / 3);
}

describe.each(targets)('parts for $for', ({ for: target, formats, load, prints }) => {
  test.each(formats)(
    'are loaded by the statements that are printed, every kind of them: %s',
    async (format) => {
      const parts = await writeParts(format);
      const script = await loadStatement(parts, { for: target, table: 'loaded' });
      const names = columns.map(([name]) => name);
      const rows = await load(script, [...names, 'email_valid'], join(parts, '..'));
      const expected: Record<string, string> = Object.fromEntries(
        columns.map(([name, , text]) => [name, prints?.[name] ?? text]),
      );
      // It writes what it reads of JSON lines in its own form.
      if (target === 'duckdb' && format === 'jsonl') {
        expected['j'] = '{"b":1.5,"n":9007199254740993,"a":[2]}';
      }
      expect(rows).toHaveLength(2);
      expect(rows[0]).toMatchObject(expected);
      expect(rows[1]).toMatchObject({
        ...Object.fromEntries(names.map((name) => [name, null])),
        email: 'good@sluice.test',
      });
    },
  );

  test('are loaded, all of them, each row once', async () => {
    const parts = await writeManyParts();
    const script = await loadStatement(parts, { for: target, table: 'loaded' });
    expectAllRows(await load(script, ['n', 'filling', 'email_valid'], join(parts, '..')));
  });

  test('are merged by key into the table of the nights before, where the target has MERGE', async () => {
    const first = [1, 2, 3].map((n) => ({ n, note: 'first', email: 'good@sluice.test' }));
    const next = [2, 4].map((n) => ({ n, note: 'next', email: 'bad@sluice.test' }));
    if (target === 'clickhouse') {
      await expect(mergeOf(first, target)).rejects.toMatchObject({ code: 'invalid_option' });
      return;
    }
    const scripts = [await mergeOf(first, target), await mergeOf(next, target)].join('');
    const rows = await load(scripts, ['n', 'note', 'email_valid'], await withFolder());
    expect(rows.map(({ n, note, email_valid: valid }) => [n, note, valid])).toEqual([
      ['1', 'first', 'true'],
      ['2', 'next', 'false'],
      ['3', 'first', 'true'],
      ['4', 'next', 'false'],
    ]);
  });
});

test('parts in a bucket are loaded by ClickHouse', async () => {
  const parts = await writeManyParts();
  const s3 = await withS3();
  for (const name of await readdir(parts)) {
    await s3.client.send(
      new PutObjectCommand({
        Bucket: 'lists',
        Key: `verified/${name}`,
        Body: await readFile(join(parts, name)),
      }),
    );
  }
  const from = `${s3.endpoint}/lists/verified/`;
  const script = await loadStatement(parts, { for: 'clickhouse', table: 'loaded', from });
  const rows = await askClickhouse(script, 'SELECT n, filling FROM loaded', s3.env);
  expectAllRows(rows);
});
