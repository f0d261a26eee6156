import type { Connection, FieldPacket, Query } from 'mysql2';
import { systemErrorCode } from '../../formats/describe-system-error.js';
import type { DatabaseFailure } from '../database-failure.js';
import { loadDriver } from '../load-driver.js';
import { parseStoreUrl } from '../store-url.js';

/** A connection with a session in which everything prints the same everywhere. */
export interface MysqlConnection {
  /** Which database it is, without user and password. */
  readonly store: string;
  /** Rows as lists of texts; bytes are bytes. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>;
  /** A statement whose rows come one by one. */
  stream(sql: string): Query;
  /** Resolves when the connection is lost. */
  readonly lost: Promise<Error>;
  close(): Promise<void>;
}

const connectTimeoutMs = 30_000;

/** Values that do not fit are refused; a backslash is what the driver takes it for. */
const session =
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO', time_zone = '+00:00'";

/** How messages call the database at a URL: without password and parameters. */
export function mysqlName(url: string): string {
  return parseStoreUrl(url, ['mysql', 'mariadb']).name;
}

/**
 * Connects to the database at a URL. Errors are the driver's, and hold what must not be shown.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function connectMysql(url: string, signal?: AbortSignal): Promise<MysqlConnection> {
  signal?.throwIfAborted();
  const { default: mysql } = await loadDriver(() => import('mysql2'), {
    database: 'MySQL',
    install: 'mysql2',
  });
  const connection: Connection = mysql.createConnection({
    uri: url.replace(/^mariadb:/i, 'mysql:'),
    charset: 'utf8mb4',
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    connectTimeout: connectTimeoutMs,
    typeCast: (field, next) => {
      const isText = /CHAR|STRING|TEXT|BLOB|BIT|GEOMETRY/.test(field.type);
      return isText ? next() : field.string('utf8');
    },
  });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    signal?.removeEventListener('abort', stop);
    connection.destroy();
  };
  const stop = (): void => {
    void close();
  };
  const lost = new Promise<Error>((resolve) => {
    connection.on('error', resolve);
    connection.on('end', () => {
      resolve(new Error('connection lost'));
    });
  });
  signal?.addEventListener('abort', stop);
  const query: MysqlConnection['query'] = (sql, values = []) =>
    new Promise((resolve, reject) => {
      connection.query(sql, [...values], (error, rows) => {
        if (error) reject(error);
        else resolve(Array.isArray(rows) ? (rows as unknown[][]) : []);
      });
    });
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    await query(session);
  } catch (error) {
    await close();
    throw error;
  }
  const { host, pathname } = new URL(url);
  return {
    store: `mysql://${host}${pathname}`,
    query,
    stream: (sql) => connection.query(sql),
    lost,
    close,
  };
}

/** What the driver tells of a column. */
export type MysqlField = FieldPacket;

const words = new Map([
  ['ER_ACCESS_DENIED_ERROR', 'the user or the password is refused'],
  ['ER_DBACCESS_DENIED_ERROR', 'the user may not use this database'],
  ['ER_BAD_DB_ERROR', 'there is no such database'],
  ['ER_CON_COUNT_ERROR', 'it has too many connections'],
  ['ER_LOCK_WAIT_TIMEOUT', 'another transaction holds what is to be written'],
  ['ER_LOCK_DEADLOCK', 'another transaction holds what is to be written'],
  ['ER_SERVER_SHUTDOWN', 'the server was shut down'],
  ['PROTOCOL_CONNECTION_LOST', 'the connection was lost'],
  ['ECONNRESET', 'the connection was lost'],
  ['EPIPE', 'the connection was lost'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOTFOUND', 'there is no such host'],
  ['ETIMEDOUT', 'it does not answer'],
  ['ER_DUP_ENTRY', 'a key or a unique column stands in more than one row'],
  ['ER_TRUNCATED_WRONG_VALUE_FOR_FIELD', 'a cell does not fit its column'],
  ['ER_TRUNCATED_WRONG_VALUE', 'a cell does not fit its column'],
  ['ER_WARN_DATA_OUT_OF_RANGE', 'a cell does not fit its column'],
  ['ER_DATA_TOO_LONG', 'a cell does not fit its column'],
  ['WARN_DATA_TRUNCATED', 'a cell does not fit its column'],
]);

/** Errors whose messages name tables, columns and syntax, and no cell. */
const misuses = new Set([
  'ER_NO_SUCH_TABLE',
  'ER_BAD_FIELD_ERROR',
  'ER_PARSE_ERROR',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_WRONG_FIELD_WITH_GROUP',
  'ER_NON_UNIQ_ERROR',
]);

/** What an error of the driver tells; only the words that hold no cell and no password. */
export function mysqlFailure(error: unknown): DatabaseFailure {
  const code = systemErrorCode(error);
  const known = words.get(code ?? '');
  if (known !== undefined) return { words: known, code, isMisuse: false };
  const isMisuse = misuses.has(code ?? '');
  const message = error instanceof Error ? error.message : '';
  if (isMisuse) return { words: message, code, isMisuse };
  const isLost = code === undefined && /clos|lost|ended/i.test(message);
  return { words: isLost ? 'the connection was lost' : 'the server refuses', code, isMisuse };
}
