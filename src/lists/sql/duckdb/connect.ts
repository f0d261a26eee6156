import { rm } from 'node:fs/promises';
import type * as duckdb from '@duckdb/node-api';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { systemClock } from '../../../platform/waiting/clock.js';
import { onAbort } from '../../../platform/waiting/promises.js';
import { refuseMissingPackage } from '../../../platform/optional-package.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import { closeOnce, type Connection } from '../connection.js';
import { fileOfUrl, inMemory, nameOfFile, pathOfUrl, placeOfFile } from '../database-url.js';
import type { Purpose } from '../dialect.js';
import { findRefusal, type DatabaseFailure, type Refusal } from '../database-failure.js';

export interface DuckdbConnection extends Connection {
  /** Rows as columns of text, some at a time, on demand. */
  stream(sql: string): AsyncGenerator<readonly (readonly (string | null)[])[]>;
  /** Begins to fill a temporary table of text columns. */
  append(table: string): Promise<TextAppender>;
}

interface TextAppender {
  /** @param columns all of the same length, at most 2048 */
  add(columns: readonly (readonly (string | null)[])[]): void;
  end(): void;
}

/** How long to wait for another process that has the file open, and how often it is tried. */
const busyMs = 30_000;
const busyPauseMs = 250;
/** How long a file that is being made may look like none. */
const makingMs = 1000;

/** Its memory limit; more goes to disk beside the file. */
const memoryLimit = '256MB';

export const name = 'duckdb';
export const label = 'DuckDB';

export function nameOf(url: string, purpose: Purpose): string {
  return nameOfFile(url, 'duckdb', purpose);
}

export function fileOf(url: string): string | undefined {
  return fileOfUrl(url, 'duckdb');
}

/** Opens a database file, created if it is to be written. Errors are the driver's or the system's. */
export async function connect(
  url: string,
  purpose: Purpose,
  signal?: AbortSignal,
): Promise<DuckdbConnection> {
  const driver = await import('@duckdb/node-api').catch(
    refuseMissingPackage({ by: 'DuckDB', install: '@duckdb/node-api', driver: 'duckdb' }),
  );
  const { store, ...place } = await placeOfFile(pathOfUrl(url, 'duckdb'), purpose);
  let { isNew } = place;
  const isFile = store !== inMemory;
  const isWritten = purpose !== 'read';
  const noteClosed = isFile ? noteOpen(store, isWritten) : (): void => undefined;
  try {
    const create = async (): Promise<duckdb.DuckDBInstance> =>
      driver.DuckDBInstance.create(store, {
        max_memory: memoryLimit,
        ...(isFile && !isWritten && { access_mode: 'READ_ONLY' }),
      });
    const instance = await whenClosed(create, signal, () => {
      // Whoever has it open has made it.
      isNew = false;
    });
    const connection = await instance.connect();
    await connection.run("SET TimeZone = 'UTC'");
    const forget = onAbort(signal, () => connection.interrupt());
    const close = closeOnce(() => {
      forget();
      connection.closeSync();
      instance.closeSync();
      noteClosed();
    });
    return {
      store,
      async query(sql, values = []) {
        const result = await connection.run(sql, [...values]);
        return result.getRowsJson();
      },
      stream: (sql) => streamTexts(connection, sql),
      append: (table) => startAppending(driver, connection, table),
      close,
      async discard() {
        await close();
        if (isNew) await rm(store, { force: true }).catch(() => undefined);
      },
    };
  } catch (error) {
    noteClosed();
    throw error;
  }
}

async function whenClosed<Opened>(
  open: () => Promise<Opened>,
  signal: AbortSignal | undefined,
  onBusy: () => void,
): Promise<Opened> {
  for (let waitedMs = 0; ; waitedMs += busyPauseMs) {
    try {
      return await open();
    } catch (error) {
      const { isBusy, words } = failureOf(error);
      const patienceMs = isBusy === true ? busyMs : words === notDuckdb ? makingMs : 0;
      if (waitedMs >= patienceMs) throw error;
      onBusy();
      await systemClock.sleep(busyPauseMs, signal);
    }
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
    // The statement itself casts all of them to text.
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

const openFiles = new Map<string, { readonly isWritten: boolean; times: number }>();

/**
 * Registers an open file. DuckDB keeps out other processes, but not a second opening in the same one, which
 * may corrupt it: a file that is written is open once.
 *
 * @returns unregisters it
 */
function noteOpen(path: string, isWritten: boolean): () => void {
  const known = openFiles.get(path);
  if (known && (known.isWritten || isWritten)) {
    throw new ConfigurationError(
      `${path} is open in this process already, and DuckDB cannot read and write a file at once: write the results into another file, such as duckdb:verified.duckdb, and let two runs go one after the other`,
      { file: path, fault: 'locked' },
    );
  }
  const entry = known ?? { isWritten, times: 0 };
  entry.times += 1;
  openFiles.set(path, entry);
  return () => {
    entry.times -= 1;
    if (entry.times === 0) openFiles.delete(path);
  };
}

/** Families of errors whose first lines name tables, columns and syntax, but no cell. */
const misuses = new Set(['Catalog', 'Binder', 'Parser', 'Not implemented', 'Permission']);

const systemWords = new Map([
  ['ENOENT', 'file not found'],
  ['ENOTDIR', 'file not found'],
  ['EACCES', 'permission denied'],
]);

const notDuckdb =
  "it is not a DuckDB database: other files are read with duckdb::memory: and a query such as SELECT * FROM 'list.parquet'";

const heldElsewhere = /^IO Error: .*(?:lock|being used by another)/i;

/** By family and first line, what may be shown; other messages may quote cells, or a password. */
const known: readonly (readonly [RegExp, string])[] = [
  [heldElsewhere, 'another process has it open'],
  [/^IO Error: .*not a valid DuckDB database/i, notDuckdb],
  [/^IO Error: .*version number/i, 'it was written by another version of DuckDB'],
  [/^IO Error: .*(?:No such file|does not exist)/i, 'file not found'],
  [/^IO Error: .*Permission denied/i, 'permission denied'],
  [/No space left/i, 'no space is left on the device'],
  [/^Out of Memory Error: .*(?:temp|disk)/i, 'no space is left on the device'],
  [/^Out of Memory/i, 'it takes more memory than it may'],
  [/^Conversion Error/i, 'a cell does not fit what it is to become'],
  [
    /^Constraint Error: .*(?:Duplicate key|unique)/i,
    'a value of a key or a unique column occurs in more than one row',
  ],
  [/^Constraint Error: .*foreign key/i, 'a foreign key of the table is broken'],
];

const refusals: readonly (readonly [RegExp, Refusal['kind']])[] = [
  [/^Conversion Error/i, 'misfit'],
  [/^Constraint Error: NOT NULL constraint failed: [^.\n]*\.(.+)/i, 'null'],
  [/^Constraint Error: CHECK constraint failed/i, 'check'],
  [/^Constraint Error: .*foreign key/i, 'foreign_key'],
  [/^Constraint Error: .*(?:Duplicate key|unique)/i, 'repeated'],
];

/** First lines that are shown unchanged: they name files and columns. */
const shownAsIs =
  /^(?:IO Error: No files found that match|Invalid Input Error: (?:No magic bytes|CSV Error on Line: \d)|Constraint Error: (?:NOT NULL|CHECK) constraint failed)/i;

export function failureOf(error: unknown): DatabaseFailure {
  const code = systemErrorCode(error);
  const system = systemWords.get(code ?? '');
  if (system !== undefined) return { words: system, code, isMisuse: false };
  const message = error instanceof Error ? error.message : '';
  const [line = ''] = message.replace(/^Failed to [a-z ]+: /i, '').split('\n');
  const [, family = '', detail = ''] = /^([A-Z][A-Za-z ]*?) Error: (.*)$/.exec(line) ?? [];
  const refusal = findRefusal(line, refusals);
  if (misuses.has(family)) return { words: detail, code, isMisuse: true };
  const isMisuse = family === 'Invalid Input' && detail.includes('read-only mode');
  if (isMisuse || shownAsIs.test(line)) return { words: detail, code, isMisuse, refusal };
  const found = known.find(([pattern]) => pattern.test(line));
  const isBusy = found?.[0] === heldElsewhere;
  return { words: found?.[1] ?? 'the driver failed', code, isMisuse: false, isBusy, refusal };
}
