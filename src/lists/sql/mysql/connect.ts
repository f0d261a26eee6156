import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import type { Connection as DriverConnection, ConnectionOptions, FieldPacket, Query } from 'mysql2';
import { refuseMissingPackage } from '../../../platform/optional-package.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import { closeOnce, keepAliveAfterMs, type Connection } from '../connection.js';
import {
  parseServerUrl,
  storeOf,
  type ServerUrl,
  connectWithTls,
  isWithoutTls,
  type TlsOptions,
  tlsWords,
} from '../database-url.js';
import type { Purpose } from '../dialect.js';
import {
  connectionLost,
  connectionWords,
  type DatabaseFailure,
  type Refusal,
} from '../database-failure.js';

/** A connection whose session prints uniformly. */
export interface MysqlConnection extends Connection {
  /** Rows as lists of text; bytes stay bytes. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>;
  /** A statement with single rows. */
  stream(sql: string): Query;
  /** Resolves when the connection is lost. */
  readonly disconnected: Promise<Error>;
}

const connectTimeoutMs = 30_000;

/**
 * Values that do not fit are refused; a backslash is what the driver takes it for. Zeros are a date here:
 * where they are the default of a column, they may not keep others from being added. A zero is a key as any
 * other, also where the server gives out numbers.
 */
const session =
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO', time_zone = '+00:00'";

/** How many seconds one statement waits for what another session holds; a writing is tried again. */
const lockWaits: Readonly<Record<Purpose, string>> = {
  read: '',
  look: ', lock_wait_timeout = 3, innodb_lock_wait_timeout = 3',
  write: ', lock_wait_timeout = 60, innodb_lock_wait_timeout = 60',
};

export const name = 'mysql';
export const label = 'MySQL';

export function nameOf(url: string): string {
  return parseServerUrl(url, schemes).name;
}

const schemes = ['mysql', 'mariadb'];

/** Connects to the database at a URL. Errors are the driver's, and may contain secrets. */
export async function connect(
  url: string,
  purpose: Purpose,
  signal?: AbortSignal,
): Promise<MysqlConnection> {
  signal?.throwIfAborted();
  const { default: mysql } = await import('mysql2').catch(
    refuseMissingPackage({ by: 'MySQL', install: 'mysql2', driver: 'mysql' }),
  );
  const server = parseServerUrl(url, schemes);
  const { connection, close } = await connectWithTls(
    server,
    (tls) => open(mysql.createConnection(optionsFor(server, tls)), signal),
    isOfOtherWay,
  );
  const disconnected = new Promise<Error>((resolve) => {
    connection.on('error', resolve);
    connection.on('end', () => {
      resolve(connectionLost());
    });
  });
  const query: MysqlConnection['query'] = (sql, values = []) =>
    promisify((done: (error: unknown, rows: unknown[][]) => void) => {
      connection.query(sql, [...values], (error, rows) => {
        done(error, Array.isArray(rows) ? (rows as unknown[][]) : []);
      });
    })();
  try {
    await query(session + lockWaits[purpose]);
  } catch (error) {
    await close();
    throw error;
  }
  const { host = '', port = 0, database } = connection.config;
  return {
    store: storeOf(name, { host: server.socket ?? host, port, database }),
    query,
    stream: (sql) => connection.query(sql),
    disconnected,
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
    keepAliveInitialDelay: keepAliveAfterMs,
    typeCast: (field, next) => {
      const isText = /CHAR|STRING|TEXT|BLOB|BIT|GEOMETRY/.test(field.type);
      return isText ? next() : field.string('utf8');
    },
  };
}

/** Resolves once connected; closes a failed connection. */
async function open(
  connection: DriverConnection & { readonly stream?: Duplex },
  signal: AbortSignal | undefined,
) {
  const close = closeOnce(() => {
    connection.destroy();
    // The driver half-closes: a server with more rows to send would wait a minute.
    connection.stream?.destroy();
  }, signal);
  try {
    await promisify((done: (error: unknown) => void) => {
      connection.connect(done);
    })();
    return { connection, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Whether the server refuses this way and may accept the other: encrypted, or not. */
function isOfOtherWay(error: unknown): boolean {
  return isWithoutTls(error) || systemErrorCode(error) === 'ER_SECURE_TRANSPORT_REQUIRED';
}

export type MysqlField = FieldPacket;

const words = new Map([
  ...connectionWords,
  ['ER_ACCESS_DENIED_ERROR', 'the user or the password is refused'],
  ['ER_BAD_DB_ERROR', 'database not found'],
  ['ER_CON_COUNT_ERROR', 'it has too many connections'],
  ['ER_SERVER_SHUTDOWN', 'the server was shut down'],
  ['PROTOCOL_CONNECTION_LOST', 'the connection was lost'],
]);

/** Refusals; without our own words the server's are shown, as far as they contain no cell. */
const refusals = new Map<string, readonly [kind: Refusal['kind'], words?: string]>([
  ['ER_BAD_NULL_ERROR', ['null', 'the value is missing']],
  ['ER_NO_DEFAULT_FOR_FIELD', ['null', 'the value is missing']],
  ['ER_TRUNCATED_WRONG_VALUE_FOR_FIELD', ['misfit', 'a cell does not fit']],
  ['ER_TRUNCATED_WRONG_VALUE', ['misfit', 'a cell does not fit']],
  ['ER_WARN_DATA_OUT_OF_RANGE', ['misfit', 'a cell does not fit']],
  ['WARN_DATA_TRUNCATED', ['misfit', 'a cell does not fit']],
  ['ER_DATA_TOO_LONG', ['too_long', 'a cell does not fit']],
  ['ER_CONSTRAINT_FAILED', ['check']],
  ['ER_CHECK_CONSTRAINT_VIOLATED', ['check']],
  ['ER_NO_REFERENCED_ROW', ['foreign_key']],
  ['ER_NO_REFERENCED_ROW_2', ['foreign_key']],
  ['ER_NO_PARTITION_FOR_GIVEN_VALUE', ['check', 'no partition of the table takes a row']],
  ['ER_INVALID_CHARACTER_STRING', ['misfit', 'a name has a character that the server refuses']],
  ['ER_SIGNAL_EXCEPTION', ['trigger', 'a trigger refuses a row']],
  ['ER_DUP_ENTRY', ['repeated', 'a value of a key or a unique column occurs in more than one row']],
  ['ER_TABLEACCESS_DENIED_ERROR', ['right']],
  ['ER_COLUMNACCESS_DENIED_ERROR', ['right']],
  ['ER_DBACCESS_DENIED_ERROR', ['right', 'the user may not use this database']],
  ['ER_SPECIFIC_ACCESS_DENIED_ERROR', ['right']],
  ['ER_OPTION_PREVENTS_STATEMENT', ['read_only', 'the server is read-only']],
  ['ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', ['read_only']],
  ['ER_LOCK_WAIT_TIMEOUT', ['locked', 'another transaction holds what is to be written']],
  ['ER_LOCK_DEADLOCK', ['locked', 'another transaction holds what is to be written']],
  ['ER_CHECKREAD', ['locked', 'another transaction has changed what is to be written']],
  ['ER_DUP_FIELDNAME', ['locked', 'another run adds the same columns']],
]);

/** Error numbers that the driver does not name, or names after another server. */
const names = new Map([
  [3819, 'ER_CHECK_CONSTRAINT_VIOLATED'],
  [4025, 'ER_CONSTRAINT_FAILED'],
]);

/** Errors whose messages name tables, columns and syntax, but no cell. */
const misuses = new Set([
  'ER_NO_SUCH_TABLE',
  'ER_BAD_FIELD_ERROR',
  'ER_WRONG_COLUMN_NAME',
  'ER_PARSE_ERROR',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_WRONG_FIELD_WITH_GROUP',
  'ER_NON_UNIQ_ERROR',
  'ER_CONSTRAINT_FAILED',
  'ER_CHECK_CONSTRAINT_VIOLATED',
  'ER_TOO_BIG_ROWSIZE',
  'ER_TOO_MANY_FIELDS',
]);

/** What the engine says of a table that the server itself would take; other numbers are of the disk. */
const isTooWide = /^Can't create table .* \(errno: (?:139|185) "/;

export function failureOf(error: unknown): DatabaseFailure {
  const message = error instanceof Error ? error.message : '';
  // The driver says of some ends in words alone that there was one.
  const ended = /clos|lost|ended/i.test(message) ? 'ECONNRESET' : undefined;
  const code = nameOfError(error) ?? systemErrorCode(error) ?? ended;
  const [kind, refused] = refusals.get(code ?? '') ?? [];
  const refusal = kind && { kind, column: columnIn(error, message) };
  const tls = code?.startsWith('HANDSHAKE') === true ? tlsWords(error) : undefined;
  if (tls !== undefined) return { words: tls, code, isMisuse: false };
  const known = refused ?? words.get(code ?? '');
  if (known !== undefined) return { words: known, code, isMisuse: false, refusal };
  if (kind === 'right') return { words: withoutUser(message), code, isMisuse: false, refusal };
  if (kind === 'foreign_key') return { ...foreignKeyIn(message), code, isMisuse: false, refusal };
  const isMisuse = misuses.has(code ?? '') || isTooWide.test(message);
  if (isMisuse) return { words: message, code, isMisuse, refusal };
  const refuses = code === undefined ? 'the driver failed' : `the server refuses (${code})`;
  return { words: refuses, code, isMisuse };
}

function nameOfError(error: unknown): string | undefined {
  const number = error instanceof Error && 'errno' in error ? error.errno : undefined;
  return names.get(Number(number));
}

/** The last quoted name, which is the column's; staged ones are named by position. */
function columnIn(error: unknown, message: string): string | undefined {
  if (error instanceof Error && 'stagedColumn' in error) return String(error.stagedColumn);
  return /(?:column|Field) (?:`[^`]*`\.)*['`]([^'`]+)['`]/.exec(message)?.[1];
}

/** `UPDATE command denied to user 'me'@'host' for table ...` */
function withoutUser(message: string): string {
  return message.replace(/ (?:to|for) user '[^']*'@'[^']*'/, '');
}

function foreignKeyIn(message: string): { readonly words: string } {
  const name = /CONSTRAINT `([^`]+)`/.exec(message)?.[1];
  return { words: `the foreign key${name === undefined ? '' : ` ${name}`} finds no row` };
}
