import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { inject } from 'vitest';
import { duckdbSink, duckdbSource } from '../../src/databases/duckdb/index.js';
import { mysqlSink, mysqlSource } from '../../src/databases/mysql/index.js';
import { postgresSink, postgresSource } from '../../src/databases/postgres/index.js';
import { sqliteSink, sqliteSource } from '../../src/databases/sqlite/index.js';
import type { Sink, Source } from '../../src/index.js';
import { askDuckdb } from './duckdb/ask-duckdb.js';
import { askMysql } from './mysql/ask-mysql.js';
import { askPostgres } from './postgres/ask-postgres.js';
import { askSqlite } from './sqlite/ask-sqlite.js';
import { temporaryFolder } from './verify-rows.js';

type Cells = Readonly<Record<string, unknown>>;

interface SinkOptions {
  readonly key?: string;
  readonly isUpdate?: boolean;
}

/** A table of one test, in a database of any kind. */
export interface Place {
  readonly table: string;
  /** Runs statements in a session of their own; gives the rows of the last one. */
  ask(...statements: readonly string[]): Promise<readonly Cells[]>;
  source(query: string): Source;
  sink(options?: SinkOptions): Sink;
}

export type DatabaseName = 'PostgreSQL' | 'MariaDB' | 'SQLite' | 'DuckDB';

/** Every database, whether it is there, and a place in it. */
export const databases: readonly (readonly [DatabaseName, boolean, () => Promise<Place>])[] = [
  [
    'PostgreSQL',
    true,
    async () => {
      const url = inject('postgresUrl');
      const table = newName();
      return {
        table,
        async ask(...statements) {
          let rows: readonly Cells[] = [];
          for (const statement of statements) rows = await askPostgres(statement);
          return rows;
        },
        source: (query) => postgresSource({ url, query }),
        sink: (options = {}) => postgresSink({ url, into: table, ...options }),
      };
    },
  ],
  [
    'MariaDB',
    inject('mysqlUrl') !== '',
    async () => {
      const url = inject('mysqlUrl');
      const table = newName();
      return {
        table,
        ask: async (...statements) => (await askMysql(...statements)) as Cells[],
        source: (query) => mysqlSource({ url, query }),
        sink: (options = {}) => mysqlSink({ url, into: table, ...options }),
      };
    },
  ],
  [
    'SQLite',
    true,
    async () => {
      const path = join(await temporaryFolder(), 'crm.db');
      const table = newName();
      return {
        table,
        async ask(...statements) {
          const last = statements.at(-1) ?? '';
          const givesRows = /^select/i.test(last);
          return askSqlite(path, ...statements, ...(givesRows ? [] : ['SELECT 1'])) as Cells[];
        },
        source: (query) => sqliteSource({ url: path, query }),
        sink: (options = {}) => sqliteSink({ url: path, into: table, ...options }),
      };
    },
  ],
  [
    'DuckDB',
    true,
    async () => {
      const path = join(await temporaryFolder(), 'crm.duckdb');
      const table = newName();
      return {
        table,
        ask: async (...statements) => (await askDuckdb(path, ...statements)) as Cells[],
        source: (query) => duckdbSource({ url: path, query }),
        sink: (options = {}) => duckdbSink({ url: path, into: table, ...options }),
      };
    },
  ],
];

function newName(): string {
  return `t_${randomBytes(6).toString('hex')}`;
}
