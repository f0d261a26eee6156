import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import ExcelJS from 'exceljs';
import { expect, inject } from 'vitest';
import { duckdbSink } from '../../../../src/lists/sql/duckdb/index.js';
import { isoInterval } from '../../../../src/lists/sql/duckdb/query.js';
import * as duckdb from '../../../../src/lists/sql/duckdb/statements.js';
import { mysqlSink } from '../../../../src/lists/sql/mysql/index.js';
import * as mysql from '../../../../src/lists/sql/mysql/statements.js';
import { postgresSink } from '../../../../src/lists/sql/postgres/index.js';
import * as postgres from '../../../../src/lists/sql/postgres/statements.js';
import { sqliteSink } from '../../../../src/lists/sql/sqlite/index.js';
import * as sqlite from '../../../../src/lists/sql/sqlite/statements.js';
import { isJsonKind } from '../../../../src/lists/jsonl/jsonl-writer.js';
import { parquetForm } from '../../../../src/lists/parquet/parquet-form.js';
import { isCellKind } from '../../../../src/lists/xlsx/number-format.js';
import { fileSink, type Kind, type Sink } from '../../../../src/index.js';
import { factsOfKind, type ColumnFacts } from '../../../../src/lists/rows/values/kind-tally.js';
import { askDuckdb } from '../duckdb/ask-duckdb.js';
import { askMysql } from '../mysql/ask-mysql.js';
import { askPostgres } from '../postgres/ask-postgres.js';
import { askSqlite } from '../sqlite/ask-sqlite.js';

/** What another program finds in a column of an output. */
export interface Found {
  /** Of the column, as it says it; of a cell, in files. */
  readonly type: string;
  /** The cells as it prints them; bytes in base64. */
  readonly cells: readonly (string | null)[];
}

export interface To {
  open(folder: string): Sink;
  /** The columns, read by another program. */
  read(folder: string, names: readonly string[]): Promise<readonly Found[]>;
  /** Whether a value of a kind is kept as one, by the code. */
  keeps(kind: Kind, value: unknown): boolean;
  /** The type that a column has, or a cell, as the reader above says it. */
  typeFor(kind: Kind, folder: string): Promise<string>;
}

const facts = factsOfKind;
const text: Kind = { name: 'text' };

const columnsOf = (
  names: readonly string[],
  types: readonly string[],
  rows: readonly object[],
): readonly Found[] =>
  names.map((_, at) => ({
    type: types[at] ?? '',
    cells: rows.map((row): string | null => {
      const value = Object.values(row)[at] as unknown;
      return value === null ? null : String(value);
    }),
  }));

async function readDuckdb(path: string, from: string, names: readonly string[]) {
  const described = (await askDuckdb(path, `DESCRIBE SELECT * FROM ${from}`)) as readonly {
    readonly column_type: string;
  }[];
  const types = described.map(({ column_type: type }) => type);
  const cells = names.map((name, at) =>
    types[at] === 'BLOB' ? `to_base64("${name}") AS c${at}` : `"${name}"::VARCHAR AS c${at}`,
  );
  const rows = await askDuckdb(
    path,
    "SET TimeZone = 'UTC'",
    `SELECT ${cells.join(', ')} FROM ${from}`,
  );
  return columnsOf(names, types, rows as readonly object[]).map((found) =>
    found.type === 'INTERVAL'
      ? { ...found, cells: found.cells.map((cell) => cell && isoInterval(cell)) }
      : found,
  );
}

/** The type of a table's column, said by the server, when it is made as the code says. */
const keepsBy =
  (typeOf: (facts: ColumnFacts) => string | undefined): To['keeps'] =>
  (kind) =>
    typeOf(facts(kind)) !== undefined;

const inUtc =
  "SELECT set_config('timezone', 'UTC', false), set_config('intervalstyle', 'iso_8601', false)";

export const sinks: Readonly<Record<string, To>> = {
  CSV: {
    open: (folder) => fileSink(join(folder, 'out.csv')),
    async read(folder, names) {
      const rows = parse(await readFile(join(folder, 'out.csv'))).slice(1);
      return columnsOf(
        names,
        names.map(() => 'text'),
        rows.map((row) => row.map((cell) => (cell === '' ? null : cell))),
      );
    },
    keeps: () => true,
    typeFor: async () => 'text',
  },
  JSONL: {
    open: (folder) => fileSink(join(folder, 'out.jsonl')),
    async read(folder, names) {
      const lines = (await readFile(join(folder, 'out.jsonl'), 'utf8')).trimEnd().split('\n');
      return names.map((name, at) => {
        const next = names[at + 1];
        const bare = lines.map((line) => {
          const from = line.indexOf(`"${name}":`) + name.length + 3;
          const to = next === undefined ? line.length - 1 : line.indexOf(`,"${next}":`, from);
          // Another parser reads the whole of it.
          expect(Object.keys(JSON.parse(line) as object)).toEqual(names);
          return line.slice(from, to);
        });
        const isText = bare[0]?.startsWith('"') === true;
        const cells = bare.map((cell) => (isText ? (JSON.parse(cell) as string | null) : cell));
        return {
          type: isText ? 'text' : 'bare',
          cells: cells.map((cell) => (cell === 'null' ? null : cell)),
        };
      });
    },
    keeps: isJsonKind,
    typeFor: async (kind) => (kind.name !== 'text' && isJsonKind(kind) ? 'bare' : 'text'),
  },
  XLSX: {
    open: (folder) => fileSink(join(folder, 'out.xlsx')),
    async read(folder, names) {
      const workbook = new ExcelJS.Workbook();
      await workbook.xlsx.readFile(join(folder, 'out.xlsx'));
      const sheet = workbook.worksheets[0];
      return names.map((_, at) => {
        const cells = Array.from(
          { length: (sheet?.rowCount ?? 1) - 1 },
          (__, row) => sheet?.getCell(row + 2, at + 1).value ?? null,
        );
        const [first] = cells;
        return {
          type: first instanceof Date ? 'date' : typeof first,
          cells: cells.map((cell) =>
            cell instanceof Date
              ? cell.toISOString().slice(0, -1)
              : cell === null
                ? null
                : String(cell as string | number | boolean),
          ),
        };
      });
    },
    keeps: isCellKind,
    async typeFor({ name }) {
      if (['date', 'time', 'timestamp'].includes(name)) return 'date';
      return name === 'boolean' ? 'boolean' : name === 'text' ? 'string' : 'number';
    },
  },
  Parquet: {
    open: (folder) => fileSink(join(folder, 'out.parquet')),
    read: (folder, names) => readDuckdb(':memory:', `'${join(folder, 'out.parquet')}'`, names),
    keeps: (kind) => parquetForm(facts(kind)) !== undefined,
    // What another program takes the column for.
    typeFor: async (kind) =>
      duckdb.typeOf(facts({ ...kind, ...(kind.scale === 3 && { scale: 6 }) })) ?? '',
  },
  DuckDB: {
    open: (folder) => duckdbSink({ url: join(folder, 'out.duckdb'), into: 'list' }),
    read: (folder, names) => readDuckdb(join(folder, 'out.duckdb'), 'list', names),
    keeps: keepsBy(duckdb.typeOf),
    typeFor: async (kind) => duckdb.typeOf(facts(kind)) ?? '',
  },
  PostgreSQL: {
    open: () => postgresSink({ url: inject('postgresUrl'), into: 'kinds_out' }),
    async read(_, names) {
      const types = await askPostgres(
        "SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'kinds_out'::regclass AND attnum > 0 ORDER BY attnum",
      );
      const cells = names.map((name) => {
        const isBytes = types[names.indexOf(name)]?.['type'] === 'bytea';
        return isBytes ? `encode("${name}", 'base64') AS "${name}"` : `"${name}"::text`;
      });
      const rows = await askPostgres(
        `WITH s AS MATERIALIZED (${inUtc}) SELECT ${cells.join(', ')} FROM s, kinds_out`,
      );
      await askPostgres('DROP TABLE kinds_out');
      return columnsOf(
        names,
        types.map(({ type }) => String(type)),
        rows,
      );
    },
    keeps: keepsBy(postgres.typeOf),
    async typeFor(kind) {
      const [row] = await askPostgres(
        `SELECT format_type(t.typ, t.mod) AS type FROM (SELECT pg_typeof(NULL::${postgres.typeOf(facts(kind)) ?? 'text'})::oid AS typ, -1 AS mod) t`,
      );
      const [digits = ''] = /\(.*\)/.exec(postgres.typeOf(facts(kind)) ?? '') ?? [];
      return `${String(row?.['type'])}${digits}`;
    },
  },
  MariaDB: {
    open: () => mysqlSink({ url: inject('mysqlUrl'), into: 'kinds_out' }),
    async read(_, names) {
      const types = (await askMysql('SHOW COLUMNS FROM kinds_out')) as readonly { Type: string }[];
      const cells = names.map((name, at) =>
        types[at]?.Type === 'longblob' || types[at]?.Type === 'blob'
          ? `TO_BASE64(${name})`
          : `CAST(${name} AS CHAR)`,
      );
      const rows = await askMysql(
        "SET time_zone = '+00:00'",
        `SELECT ${cells.join(', ')} FROM kinds_out`,
      );
      await askMysql('DROP TABLE kinds_out');
      return columnsOf(
        names,
        types.map(({ Type }) => Type),
        rows as readonly object[],
      );
    },
    keeps: keepsBy(mysql.typeOf),
    async typeFor(kind) {
      await askMysql(
        'DROP TABLE IF EXISTS kinds_type',
        `CREATE TABLE kinds_type (a ${mysql.typeOf(facts(kind)) ?? mysql.typeOf(facts(text)) ?? ''})`,
      );
      const [row] = (await askMysql('SHOW COLUMNS FROM kinds_type')) as readonly { Type: string }[];
      return row?.Type ?? '';
    },
  },
  SQLite: {
    open: (folder) => sqliteSink({ url: join(folder, 'out.db'), into: 'list' }),
    async read(folder, names) {
      const path = join(folder, 'out.db');
      const types = askSqlite(path, "SELECT type FROM pragma_table_info('list')") as readonly {
        type: string;
      }[];
      const rows = askSqlite(
        path,
        `SELECT ${names.map((name) => `CASE typeof(${name}) WHEN 'blob' THEN hex(${name}) ELSE CAST(${name} AS TEXT) END AS ${name}`).join(', ')} FROM list`,
      );
      return columnsOf(
        names,
        types.map(({ type }) => type),
        rows as readonly object[],
      ).map((found) =>
        found.type === 'BLOB'
          ? {
              ...found,
              cells: found.cells.map((cell) => cell && Buffer.from(cell, 'hex').toString('base64')),
            }
          : found,
      );
    },
    keeps: keepsBy(sqlite.typeOf),
    typeFor: async (kind) => sqlite.typeOf(facts(kind)) ?? 'TEXT',
  },
};
