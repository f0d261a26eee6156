import type { Connection as DriverConnection, FieldPacket, Query } from 'mysql2';
import { closeOnce, nameOfUrl, type Connection } from '../connection.js';
import type { Purpose } from '../dialect.js';
import { loadDriver } from '../../system/load-driver.js';

/** A connection with a session in which everything prints the same everywhere. */
export interface MysqlConnection extends Connection {
  /** Rows as lists of texts; bytes are bytes. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>;
  /** A statement whose rows come one by one. */
  stream(sql: string): Query;
  /** Resolves when the connection is lost. */
  readonly lost: Promise<Error>;
}

const connectTimeoutMs = 30_000;

/** Values that do not fit are refused; a backslash is what the driver takes it for. */
const session =
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO', time_zone = '+00:00'";

export const name = 'mysql';

export function nameOf(url: string): string {
  return nameOfUrl(url, ['mysql', 'mariadb']);
}

/**
 * Connects to the database at a URL. Errors are the driver's, and hold what must not be shown.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function connect(
  url: string,
  _: Purpose,
  signal?: AbortSignal,
): Promise<MysqlConnection> {
  signal?.throwIfAborted();
  const { default: mysql } = await loadDriver(() => import('mysql2'), {
    what: 'MySQL',
    install: 'mysql2',
  });
  const connection: DriverConnection = mysql.createConnection({
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
  const close = closeOnce(() => {
    connection.destroy();
  }, signal);
  const lost = new Promise<Error>((resolve) => {
    connection.on('error', resolve);
    connection.on('end', () => {
      resolve(new Error('connection lost'));
    });
  });
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
