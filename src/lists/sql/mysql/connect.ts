import type { Duplex } from 'node:stream';
import type { Connection as DriverConnection, ConnectionOptions, FieldPacket, Query } from 'mysql2';
import { closeOnce, type Connection } from '../connection.js';
import type { Purpose } from '../dialect.js';
import { systemErrorCode } from '../../../platform/files/disk-errors.js';
import { notInstalled } from '../../../platform/not-installed.js';
import {
  parseServerUrl,
  type ServerUrl,
  connectWithTls,
  isWithoutTls,
  type TlsOptions,
} from '../database-url.js';

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
export const label = 'MySQL';

export function nameOf(url: string): string {
  return parseServerUrl(url, schemes).name;
}

const schemes = ['mysql', 'mariadb'];

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
  const { default: mysql } = await import('mysql2').catch(
    notInstalled({ by: 'MySQL', install: 'mysql2', driver: 'mysql' }),
  );
  const server = parseServerUrl(url, schemes);
  const { connection, close } = await connectWithTls(
    server,
    (tls) => open(mysql.createConnection(optionsFor(server, tls)), signal),
    isOfOtherWay,
  );
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
    await query(session);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    store: server.store,
    query,
    stream: (sql) => connection.query(sql),
    lost,
    close,
  };
}

function optionsFor(
  { driverUrl, socket }: ServerUrl,
  tls: TlsOptions | undefined,
): ConnectionOptions {
  const { checksHost = false, ...ssl } = tls ?? {};
  return {
    uri: driverUrl.replace(/^mariadb:/i, 'mysql:'),
    ...(socket !== undefined && { socketPath: socket }),
    ...(tls && { ssl: { ...ssl, verifyIdentity: checksHost } }),
    charset: 'utf8mb4',
    rowsAsArray: true,
    dateStrings: true,
    jsonStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    connectTimeout: connectTimeoutMs,
    typeCast: (field, next) => {
      const isText = /CHAR|STRING|TEXT|BLOB|BIT|GEOMETRY/.test(field.type);
      return isText ? next() : field.string('utf8');
    },
  };
}

/** Resolves when a connection is there; one that fails is closed. */
async function open(
  connection: DriverConnection & { readonly stream?: Duplex },
  signal: AbortSignal | undefined,
) {
  const close = closeOnce(() => {
    connection.destroy();
    // The driver half-closes: a server that has more rows to send would wait a minute to send them.
    connection.stream?.destroy();
  }, signal);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    return { connection, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Whether the server lets nobody in this way, and may in the other: encrypted, or not. */
function isOfOtherWay(error: unknown): boolean {
  return isWithoutTls(error) || systemErrorCode(error) === 'ER_SECURE_TRANSPORT_REQUIRED';
}

/** What the driver tells of a column. */
export type MysqlField = FieldPacket;
