import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type * as duckdb from '@duckdb/node-api';
import { ConfigurationError } from '../../errors/family.js';
import { inMemory } from '../file-place.js';
import { loadDriver } from '../load-driver.js';
import { noteOpen } from './open-files.js';

/** A DuckDB file that is open, in a session in which everything prints the same everywhere. */
export interface DuckdbDatabase {
  /** Its whole path. */
  readonly store: string;
  run(sql: string, values?: readonly (string | number)[]): Promise<void>;
  /** Rows as lists, integers beyond those of JavaScript as texts; for few of them. */
  rows(
    sql: string,
    values?: readonly (string | number)[],
  ): Promise<readonly (readonly unknown[])[]>;
  /** Rows as columns of texts, some at a time and no sooner than they are asked for. */
  stream(sql: string): AsyncGenerator<readonly (readonly (string | null)[])[]>;
  /** Begins to fill a temporary table whose columns are all text. */
  append(table: string): Promise<TextAppender>;
  /** Stops the statement under way. */
  interrupt(): void;
  close(): void;
}

/** Takes rows for a temporary table. */
export interface TextAppender {
  /** @param columns all of one length, at most `rowsAtOnce` */
  add(columns: readonly (readonly (string | null)[])[]): void;
  end(): void;
}

/** Rows that DuckDB takes and gives at once. */
export const rowsAtOnce = 2048;

/** What it may take of the memory; what is more goes to disk beside the file. */
const memoryLimit = '256MB';

/** The path in `duckdb:path`, or a path itself. @throws ConfigurationError */
export function duckdbPath(url: string): string {
  const path = url.replace(/^duckdb:/, '');
  if (path !== '') return path;
  throw new ConfigurationError('name the file of the database: duckdb:path');
}

/** @throws ConfigurationError `missing_dependency` */
async function loadDuckdb(): Promise<typeof duckdb> {
  return loadDriver(() => import('@duckdb/node-api'), {
    database: 'DuckDB',
    install: '@duckdb/node-api',
  });
}

/**
 * Opens a database file, which is made when it is to be written and not there. Errors are the driver's
 * or the system's.
 *
 * @throws ConfigurationError `missing_dependency`; when this process has it open already
 */
export async function openDuckdb(
  path: string,
  { isWritten }: { readonly isWritten: boolean },
): Promise<DuckdbDatabase> {
  const driver = await loadDuckdb();
  const isFile = path !== inMemory;
  if (isFile && !isWritten) await stat(path);
  const store = isFile ? resolve(path) : inMemory;
  const noteClosed = isFile ? noteOpen(store, isWritten) : (): void => undefined;
  try {
    const instance = await driver.DuckDBInstance.create(store, {
      max_memory: memoryLimit,
      ...(isFile && !isWritten && { access_mode: 'READ_ONLY' }),
    });
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    let isOpen = true;
    return {
      store,
      async run(sql, values = []) {
        await connection.run(sql, [...values]);
      },
      async rows(sql, values = []) {
        const result = await connection.run(sql, [...values]);
        return result.getRowsJson();
      },
      stream: (sql) => streamTexts(connection, sql),
      append: (table) => startAppending(driver, connection, table),
      interrupt() {
        if (isOpen) connection.interrupt();
      },
      close() {
        if (!isOpen) return;
        isOpen = false;
        connection.closeSync();
        instance.closeSync();
        noteClosed();
      },
    };
  } catch (error) {
    noteClosed();
    throw error;
  }
}

async function* streamTexts(
  connection: duckdb.DuckDBConnection,
  sql: string,
): AsyncGenerator<readonly (readonly (string | null)[])[]> {
  const result = await connection.stream(sql);
  for (;;) {
    const chunk: duckdb.DuckDBDataChunk | null = await result.fetchChunk();
    if (!chunk || chunk.rowCount === 0) return;
    // All of them are cast to text by the statement itself.
    yield chunk.getColumns() as (string | null)[][];
  }
}

async function startAppending(
  driver: typeof duckdb,
  connection: duckdb.DuckDBConnection,
  table: string,
): Promise<TextAppender> {
  const appender = await connection.createAppender(table, 'main', 'temp');
  return {
    add(columns) {
      const types = columns.map(() => driver.VARCHAR);
      const chunk = driver.DuckDBDataChunk.create(types, columns[0]?.length ?? 0);
      chunk.setColumns(columns);
      appender.appendDataChunk(chunk);
    },
    end() {
      appender.flushSync();
      appender.closeSync();
    },
  };
}
