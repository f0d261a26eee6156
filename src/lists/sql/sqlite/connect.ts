import { stat } from 'node:fs/promises';
import type Database from 'libsql';
import { refuseMissingPackage } from '../../../platform/optional-package.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import { closeOnce, type Connection } from '../connection.js';
import { fileOfUrl, nameOfFile, pathOfUrl, placeOfFile } from '../database-url.js';
import type { Purpose } from '../dialect.js';
import { findRefusal, type DatabaseFailure, type Refusal } from '../database-failure.js';

export interface SqliteConnection extends Connection {
  /** Rows one by one; integers are bigints. They end with the connection. */
  read(sql: string): IterableIterator<readonly unknown[]>;
  /** The columns of a statement; empty without rows. */
  columns(sql: string): readonly SqliteField[];
  prepare(sql: string): (values: readonly unknown[]) => void;
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

export const name = 'sqlite';
export const label = 'SQLite';

export function nameOf(url: string, purpose: Purpose): string {
  return nameOfFile(url, 'sqlite', purpose);
}

export function fileOf(url: string): string | undefined {
  return fileOfUrl(url, 'sqlite');
}

/** Opens a database file. Errors are the driver's or the system's. */
export async function connect(url: string, purpose: Purpose): Promise<SqliteConnection> {
  const { default: Driver } = await import('libsql').catch(
    refuseMissingPackage({ by: 'SQLite', install: 'libsql', driver: 'sqlite' }),
  );
  const path = pathOfUrl(url, 'sqlite');
  if (purpose === 'read') await stat(path);
  const { store } = await placeOfFile(path, purpose);
  const database = new Driver(store, { timeout: busySeconds });
  let reading: Iterator<unknown> | undefined;
  const close = closeOnce(() => {
    // The driver keeps a connection and its locks until a statement is garbage-collected.
    if (reading) stop(database, reading);
    if (database.inTransaction) database.exec('ROLLBACK');
    database.close();
  });
  const query: SqliteConnection['query'] = async (sql, values = []) => {
    const statement = database.prepare(sql);
    const bound = values.map(sqliteValue);
    if (statement.reader) return [...asReader(statement).iterate(bound)];
    statement.run(bound);
    return [];
  };
  try {
    // Reading shows whether it is a database.
    await query('SELECT count(*) FROM sqlite_master');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    store,
    query,
    read(sql) {
      const rows = asReader(database.prepare(sql)).iterate([]);
      reading = rows;
      return rows;
    },
    columns(sql) {
      const statement = database.prepare(sql);
      return statement.reader ? asReader(statement).columns() : [];
    },
    prepare(sql) {
      const statement = database.prepare(sql);
      return (values) => {
        statement.run(values);
      };
    },
    close,
  };
}

/** The used part of a statement, beyond the driver's types. */
interface ReadStatement {
  raw(): ReadStatement;
  safeIntegers(isOn: boolean): ReadStatement;
  iterate(values: readonly unknown[]): IterableIterator<readonly unknown[]>;
  columns(): readonly SqliteField[];
}

/** Missing in the driver's types. */
interface Interruptible {
  interrupt(): void;
}

function asReader(statement: Database.Statement): ReadStatement {
  return (statement as unknown as ReadStatement).raw().safeIntegers(true);
}

function stop(database: Database.Database, rows: Iterator<unknown>): void {
  (database as unknown as Interruptible).interrupt();
  try {
    while (rows.next().done !== true);
  } catch {
    // That is how it stops.
  }
}

const words = new Map([
  ['SQLITE_BUSY', 'another process is writing it'],
  ['SQLITE_LOCKED', 'another process is writing it'],
  ['SQLITE_NOTADB', 'it is not an SQLite database'],
  ['SQLITE_CORRUPT', 'it is damaged'],
  ['SQLITE_FULL', 'no space is left on the device'],
  ['SQLITE_READONLY', 'it is read-only'],
  ['SQLITE_CANTOPEN', 'it cannot be opened'],
  ['SQLITE_TOOBIG', 'a cell is too large'],
  ['ENOENT', 'file not found'],
  ['EACCES', 'permission denied'],
]);

const refusals: readonly (readonly [RegExp, Refusal['kind']])[] = [
  [/^NOT NULL constraint failed: [^.\n]*\.(.+)/, 'null'],
  [/^CHECK constraint failed/, 'check'],
  [/^FOREIGN KEY constraint failed/, 'foreign_key'],
  [/^UNIQUE constraint failed: [^.\n]*\.(.+)/, 'repeated'],
  [/^cannot store \w+ value in \w+ column [^.\n]*\.(.+)/, 'misfit'],
];

/** A driver's error; constraints are named, cells are not. */
export function failureOf(error: unknown): DatabaseFailure {
  const message = error instanceof Error ? error.message : '';
  const code =
    systemErrorCode(error) || (message.includes('Unable to open') ? 'SQLITE_CANTOPEN' : undefined);
  const family = code?.replace(/^(SQLITE_[A-Z]+)_.*$/, '$1') ?? '';
  const known = words.get(code ?? '') ?? words.get(family);
  if (known !== undefined) {
    const kind = family === 'SQLITE_READONLY' ? 'read_only' : 'locked';
    const isRefusal = ['SQLITE_READONLY', 'SQLITE_BUSY', 'SQLITE_LOCKED'].includes(family);
    return { words: known, code, isMisuse: false, ...(isRefusal && { refusal: { kind } }) };
  }
  const refusal: Refusal | undefined =
    code === 'SQLITE_CONSTRAINT_TRIGGER' ? { kind: 'trigger' } : findRefusal(message, refusals);
  const isOpen = family === 'SQLITE_ERROR' || family === 'SQLITE_CONSTRAINT';
  return {
    words: wordsFor(message, isOpen, refusal),
    code,
    isMisuse: family === 'SQLITE_ERROR',
    refusal,
  };
}

function wordsFor(message: string, isOpen: boolean, refusal: Refusal | undefined): string {
  if (refusal?.kind === 'misfit') return 'a cell does not fit';
  return isOpen || refusal ? message : 'the driver failed';
}

export function sqliteValue(value: unknown): unknown {
  switch (typeof value) {
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'boolean':
      return value ? 1n : 0n;
    default:
      return value;
  }
}
