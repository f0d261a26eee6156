import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { inject } from 'vitest';
import { duckdbSource } from '../../../../src/lists/sql/duckdb/index.js';
import { mysqlSource } from '../../../../src/lists/sql/mysql/index.js';
import { postgresSource } from '../../../../src/lists/sql/postgres/index.js';
import { sqliteSource } from '../../../../src/lists/sql/sqlite/index.js';
import { fileSource, type Kind, type Source } from '../../../../src/index.js';
import { askDuckdb } from '../duckdb/ask-duckdb.js';
import { askMysql } from '../mysql/ask-mysql.js';
import { askSqlite } from '../sqlite/ask-sqlite.js';

/** A column of a source: what it holds, and one value of it as the source prints it. */
export interface Column {
  readonly name: string;
  readonly kind: Kind;
  /** In the source's own language; for files the value itself. */
  readonly sql: string;
  /** What stands where all is text. */
  readonly text: string;
}

const column = (name: string, kind: Kind, sql: string, text: string): Column => ({
  name,
  kind,
  sql,
  text,
});

const json = '{"a": 1.50, "n": 9007199254740993, "a": [2]}';
const uuid = '0f8fad5b-d9cb-469f-a165-70867728950e';

const duckdb: readonly Column[] = [
  column('s', { name: 'text' }, "'ümlaut'", 'ümlaut'),
  column('b', { name: 'boolean' }, 'true', 'true'),
  column('i8', { name: 'int8' }, '(-128)::TINYINT', '-128'),
  column('i16', { name: 'int16' }, '(-32768)::SMALLINT', '-32768'),
  column('i32', { name: 'int32' }, '(-2147483648)::INTEGER', '-2147483648'),
  column('i64', { name: 'int64' }, '(-9223372036854775808)::BIGINT', '-9223372036854775808'),
  column('u8', { name: 'uint8' }, '255::UTINYINT', '255'),
  column('u16', { name: 'uint16' }, '65535::USMALLINT', '65535'),
  column('u32', { name: 'uint32' }, '4294967295::UINTEGER', '4294967295'),
  column('u64', { name: 'uint64' }, '18446744073709551615::UBIGINT', '18446744073709551615'),
  column('d', { name: 'decimal', precision: 10, scale: 2 }, '12.50::DECIMAL(10,2)', '12.50'),
  column(
    'd38',
    { name: 'decimal', precision: 38, scale: 10 },
    '-1234567890123456789012345678.0000000001::DECIMAL(38,10)',
    '-1234567890123456789012345678.0000000001',
  ),
  column('f4', { name: 'float32' }, '0.5::FLOAT', '0.5'),
  column('f8', { name: 'float64' }, '0.1::DOUBLE', '0.1'),
  column('day', { name: 'date' }, "'2024-02-29'::DATE", '2024-02-29'),
  column('t', { name: 'time' }, "'10:20:30.123'::TIME", '10:20:30.123'),
  column(
    'ts',
    { name: 'timestamp' },
    "'2024-02-29 10:20:30.123'::TIMESTAMP",
    '2024-02-29 10:20:30.123',
  ),
  column(
    'ns',
    { name: 'timestamp', scale: 9 },
    "'2024-02-29 10:20:30.123456789'::TIMESTAMP_NS",
    '2024-02-29 10:20:30.123456789',
  ),
  column(
    'tz',
    { name: 'timestamptz' },
    "'2024-02-29 10:20:30.123456+00'::TIMESTAMPTZ",
    '2024-02-29 10:20:30.123456+00',
  ),
  column(
    'iv',
    { name: 'interval' },
    "'1 year 2 months 3 days 04:05:06.5'::INTERVAL",
    'P1Y2M3DT4H5M6.5S',
  ),
  column('id', { name: 'uuid' }, `'${uuid}'::UUID`, uuid),
  column('j', { name: 'json' }, `'${json}'::JSON`, json),
  column('x', { name: 'binary' }, String.raw`'\x00\xFF'::BLOB`, 'AP8='),
];

const isIn =
  (...names: readonly string[]) =>
  ({ name }: Column) =>
    names.includes(name);

/** The same, as the file says them: its times have a `T`. */
const parquet = duckdb.map((one) => {
  if (isIn('ts', 'ns')(one)) {
    const scale = one.name === 'ts' ? 6 : 9;
    return { ...one, kind: { ...one.kind, scale }, text: one.text.replace(' ', 'T') };
  }
  if (one.name === 't') return { ...one, kind: { ...one.kind, scale: 6 } };
  if (one.name === 'tz') {
    return { ...one, kind: { ...one.kind, scale: 6 }, text: '2024-02-29T10:20:30.123456Z' };
  }
  return one;
});

const postgres: readonly Column[] = [
  ...duckdb
    .filter(isIn('s', 'b', 'day'))
    .map((one) => (one.name === 's' ? { ...one, sql: `${one.sql}::text` } : one)),
  column('i16', { name: 'int16' }, '(-32768)::int2', '-32768'),
  column('i32', { name: 'int32' }, '(-2147483648)::int4', '-2147483648'),
  column('i64', { name: 'int64' }, '(-9223372036854775808)::int8', '-9223372036854775808'),
  column('d', { name: 'decimal', precision: 10, scale: 2 }, '12.50::numeric(10,2)', '12.50'),
  column('f4', { name: 'float32' }, '0.5::float4', '0.5'),
  column('f8', { name: 'float64' }, '0.1::float8', '0.1'),
  column('t', { name: 'time' }, "'10:20:30.123'::time", '10:20:30.123'),
  column(
    'ts',
    { name: 'timestamp' },
    "'2024-02-29 10:20:30.123'::timestamp",
    '2024-02-29 10:20:30.123',
  ),
  column(
    'tz',
    { name: 'timestamptz' },
    "'2024-02-29 10:20:30.123456+00'::timestamptz",
    '2024-02-29 10:20:30.123456+00',
  ),
  column('iv', { name: 'interval' }, "'P1Y2M3DT4H5M6.5S'::interval", 'P1Y2M3DT4H5M6.5S'),
  column('id', { name: 'uuid' }, `'${uuid}'::uuid`, uuid),
  column('j', { name: 'json' }, `'${json}'::json`, json),
  column('x', { name: 'binary' }, String.raw`'\x00ff'::bytea`, 'AP8='),
];

/** Types of the table, and values. */
const mysqlTypes: readonly (readonly [Column, string])[] = [
  [column('s', { name: 'text' }, "'ümlaut'", 'ümlaut'), 'TEXT'],
  [column('b', { name: 'boolean' }, 'true', 'true'), 'BOOLEAN'],
  [column('i8', { name: 'int8' }, '-128', '-128'), 'TINYINT'],
  [column('i16', { name: 'int16' }, '-32768', '-32768'), 'SMALLINT'],
  [column('i32', { name: 'int32' }, '-2147483648', '-2147483648'), 'INT'],
  [column('i64', { name: 'int64' }, '-9223372036854775808', '-9223372036854775808'), 'BIGINT'],
  [column('u8', { name: 'uint8' }, '255', '255'), 'TINYINT UNSIGNED'],
  [column('u16', { name: 'uint16' }, '65535', '65535'), 'SMALLINT UNSIGNED'],
  [column('u32', { name: 'uint32' }, '4294967295', '4294967295'), 'INT UNSIGNED'],
  [
    column('u64', { name: 'uint64' }, '18446744073709551615', '18446744073709551615'),
    'BIGINT UNSIGNED',
  ],
  [column('d', { name: 'decimal', precision: 10, scale: 2 }, '12.50', '12.50'), 'DECIMAL(10,2)'],
  [column('f8', { name: 'float64' }, '0.1', '0.1'), 'DOUBLE'],
  [column('day', { name: 'date' }, "'2024-02-29'", '2024-02-29'), 'DATE'],
  [column('t', { name: 'time', scale: 3 }, "'10:20:30.123'", '10:20:30.123'), 'TIME(3)'],
  [
    column(
      'ts',
      { name: 'timestamp', scale: 3 },
      "'2024-02-29 10:20:30.123'",
      '2024-02-29 10:20:30.123',
    ),
    'DATETIME(3)',
  ],
  [
    column(
      'tz',
      { name: 'timestamptz', scale: 0 },
      "'2024-02-29 10:20:30'",
      '2024-02-29 10:20:30+00',
    ),
    'TIMESTAMP NULL',
  ],
  [column('j', { name: 'json' }, `'${json}'`, json), 'JSON'],
  [column('x', { name: 'binary' }, "x'00FF'", 'AP8='), 'BLOB'],
];

const sqliteTypes: readonly (readonly [Column, string])[] = [
  [column('s', { name: 'text' }, "'ümlaut'", 'ümlaut'), 'TEXT'],
  [column('b', { name: 'boolean' }, '1', 'true'), 'BOOLEAN'],
  [column('i64', { name: 'int64' }, '-9223372036854775807', '-9223372036854775807'), 'INTEGER'],
  [column('f8', { name: 'float64' }, '0.1', '0.1'), 'REAL'],
  [column('x', { name: 'binary' }, "x'00FF'", 'AP8='), 'BLOB'],
];

const jsonl: readonly Column[] = [
  column('s', { name: 'text' }, '"ümlaut"', 'ümlaut'),
  column('b', { name: 'boolean' }, 'true', 'true'),
  column('i64', { name: 'int64' }, '-9223372036854775808', '-9223372036854775808'),
  column('u64', { name: 'uint64' }, '18446744073709551615', '18446744073709551615'),
  column('f8', { name: 'float64' }, '0.1', '0.1'),
  column('j', { name: 'json' }, '[1,"x"]', '[1,"x"]'),
];

const csv = duckdb.map((one): Column => ({ ...one, kind: { name: 'text' }, sql: one.text }));

const xlsx: readonly Column[] = [
  column('s', { name: 'text' }, '', 'ümlaut'),
  column('b', { name: 'boolean' }, '', 'true'),
  column('i64', { name: 'int64' }, '', '-9007199254740991'),
  column('f8', { name: 'float64' }, '', '0.1'),
  column('day', { name: 'date' }, '', '2024-02-29'),
  column('ts', { name: 'timestamp', scale: 3 }, '', '2024-02-29T10:20:30'),
];

export interface From {
  readonly columns: readonly Column[];
  open(folder: string): Promise<Source>;
}

/** The values, and a row of nulls of the same types. */
const select = (columns: readonly Column[]): string => {
  const nulls = columns.map(({ sql }) => `NULL${/::[^:]+$/.exec(sql)?.[0] ?? ''}`);
  const values = columns.map(({ name, sql }) => `${sql} AS ${name}`);
  return `SELECT ${values.join(', ')} UNION ALL SELECT ${nulls.join(', ')}`;
};

const tableOf = (columns: readonly (readonly [Column, string])[], table: string) => [
  `DROP TABLE IF EXISTS ${table}`,
  `CREATE TABLE ${table} (${columns.map(([{ name }, type]) => `${name} ${type}`).join(', ')})`,
  `INSERT INTO ${table} VALUES (${columns.map(([{ sql }]) => sql).join(', ')}), (${columns.map(() => 'NULL').join(', ')})`,
];

export const sources: Readonly<Record<string, From>> = {
  CSV: {
    columns: csv,
    async open(folder) {
      const cells = csv.map(({ text }) => `"${text.replaceAll('"', '""')}"`).join(',');
      const names = csv.map(({ name }) => name).join(',');
      await writeFile(
        join(folder, 'in.csv'),
        `${names}\n${cells}\n${','.repeat(csv.length - 1)}\n`,
      );
      return fileSource(join(folder, 'in.csv'));
    },
  },
  JSONL: {
    columns: jsonl,
    async open(folder) {
      const line = (of: (one: Column) => string): string =>
        `{${jsonl.map((one) => `"${one.name}":${of(one)}`).join(',')}}\n`;
      await writeFile(join(folder, 'in.jsonl'), line(({ sql }) => sql) + line(() => 'null'));
      return fileSource(join(folder, 'in.jsonl'));
    },
  },
  XLSX: {
    columns: xlsx,
    async open(folder) {
      const workbook = new ExcelJS.Workbook();
      const sheet = workbook.addWorksheet('List');
      sheet.addRow(xlsx.map(({ name }) => name));
      const local = new Date('2024-02-29T10:20:30Z');
      sheet.addRow(['ümlaut', true, -9007199254740991, 0.1, new Date('2024-02-29'), local]);
      sheet.getCell('F2').numFmt = 'yyyy-mm-dd hh:mm:ss';
      await workbook.xlsx.writeFile(join(folder, 'in.xlsx'));
      return fileSource(join(folder, 'in.xlsx'));
    },
  },
  Parquet: {
    columns: parquet,
    async open(folder) {
      const path = join(folder, 'in.parquet');
      await askDuckdb(
        ':memory:',
        "SET TimeZone = 'UTC'",
        `COPY (${select(duckdb)}) TO '${path}' (FORMAT parquet)`,
      );
      return fileSource(path);
    },
  },
  DuckDB: {
    columns: duckdb,
    open: async () => duckdbSource({ url: 'duckdb::memory:', query: select(duckdb) }),
  },
  PostgreSQL: {
    columns: postgres,
    open: async () => postgresSource({ url: inject('postgresUrl'), query: select(postgres) }),
  },
  MariaDB: {
    columns: mysqlTypes.map(([one]) => one),
    async open() {
      const url = inject('mysqlUrl');
      for (const sql of ["SET time_zone = '+00:00'", ...tableOf(mysqlTypes, 'every_kind')]) {
        await askMysql(sql);
      }
      return mysqlSource({ url, query: 'SELECT * FROM every_kind' });
    },
  },
  SQLite: {
    columns: sqliteTypes.map(([one]) => one),
    async open(folder) {
      const path = join(folder, 'in.db');
      for (const sql of tableOf(sqliteTypes, 'list')) askSqlite(path, sql, 'SELECT 1');
      return sqliteSource({ url: path, query: 'SELECT * FROM list' });
    },
  },
};
