import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type Database from 'libsql';
import { ConfigurationError } from '../../errors/family.js';
import { systemErrorCode } from '../../formats/describe-system-error.js';
import type { DatabaseFailure } from '../database-failure.js';
import { inMemory } from '../file-place.js';
import { loadDriver } from '../load-driver.js';

/** A database file that is open. */
export interface SqliteDatabase {
  /** Its whole path. */
  readonly store: string;
  run(sql: string, ...values: readonly unknown[]): void;
  /** Rows as lists; integers are bigints. */
  rows(sql: string, ...values: readonly unknown[]): IterableIterator<readonly unknown[]>;
  /** What the columns of a statement are; empty when it gives no rows. */
  columns(sql: string): readonly SqliteField[];
  /** Stops a statement whose rows are not wanted any more. */
  stop(rows: Iterator<unknown>): void;
  /** Prepares a statement that is run for each of many rows. */
  prepare(sql: string): (values: readonly unknown[]) => void;
  close(): void;
}

export interface SqliteField {
  readonly name: string;
  readonly column: string | null;
  readonly table: string | null;
  readonly database: string | null;
  readonly type: string | null;
}

/** How long to wait for another process that writes the same file. */
const busySeconds = 30;

/** The path in `sqlite:path`, or a path itself. @throws ConfigurationError */
export function sqlitePath(url: string): string {
  const path = url.replace(/^sqlite:/, '');
  if (path !== '') return path;
  throw new ConfigurationError('name the file of the database: sqlite:path');
}

/**
 * Opens a database file. Errors are the driver's or the system's.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function openSqlite(
  path: string,
  { mustExist }: { readonly mustExist: boolean },
): Promise<SqliteDatabase> {
  const { default: Driver } = await loadDriver(() => import('libsql'), {
    database: 'SQLite',
    install: 'libsql',
  });
  if (mustExist) await stat(path);
  // A path, and never the address of a server.
  const store = path === inMemory ? path : resolve(path);
  const database = new Driver(store, { timeout: busySeconds });
  return {
    store,
    run(sql, ...values) {
      database.prepare(sql).run([...values]);
    },
    rows: (sql, ...values) => readStatement(database, sql).iterate([...values]),
    stop(rows) {
      (database as unknown as Interruptible).interrupt();
      try {
        while (rows.next().done !== true);
      } catch {
        // That is how it stops.
      }
    },
    columns(sql) {
      const isReader = database.prepare(sql).reader;
      return isReader ? readStatement(database, sql).columns() : [];
    },
    prepare(sql) {
      const statement = database.prepare(sql);
      return (values) => {
        statement.run(values);
      };
    },
    close() {
      // The driver keeps a connection, and its locks, for as long as a statement is not collected.
      if (database.inTransaction) database.exec('ROLLBACK');
      database.close();
    },
  };
}

/** What is used of a statement, more than the driver's types tell. */
interface ReadStatement {
  raw(): ReadStatement;
  safeIntegers(isOn: boolean): ReadStatement;
  iterate(values: readonly unknown[]): IterableIterator<readonly unknown[]>;
  columns(): readonly SqliteField[];
}

/** What the driver's types leave out. */
interface Interruptible {
  interrupt(): void;
}

function readStatement(database: Database.Database, sql: string): ReadStatement {
  return (database.prepare(sql) as unknown as ReadStatement).raw().safeIntegers(true);
}

const words = new Map([
  ['SQLITE_BUSY', 'another process is writing it'],
  ['SQLITE_LOCKED', 'another process is writing it'],
  ['SQLITE_NOTADB', 'it is no SQLite database'],
  ['SQLITE_CORRUPT', 'it is damaged'],
  ['SQLITE_FULL', 'no space is left on the device'],
  ['SQLITE_READONLY', 'it is read-only'],
  ['SQLITE_CANTOPEN', 'it cannot be opened'],
  ['SQLITE_TOOBIG', 'a cell is too large'],
  ['ENOENT', 'there is no such file'],
  ['EACCES', 'permission denied'],
]);

/** What an error of the driver tells; constraints are named, cells are not. */
export function sqliteFailure(error: unknown): DatabaseFailure {
  const message = error instanceof Error ? error.message : '';
  const code =
    systemErrorCode(error) || (message.includes('Unable to open') ? 'SQLITE_CANTOPEN' : undefined);
  const family = code?.replace(/^(SQLITE_[A-Z]+)_.*$/, '$1') ?? '';
  const known = words.get(code ?? '') ?? words.get(family);
  if (known !== undefined) return { words: known, code, isMisuse: false };
  const isOpen = family === 'SQLITE_ERROR' || family === 'SQLITE_CONSTRAINT';
  return {
    words: isOpen ? message : 'the driver failed',
    code,
    isMisuse: family === 'SQLITE_ERROR',
  };
}
