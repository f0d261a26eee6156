import type { Source } from '../../rows/source.js';
import { querySource, type Asking } from '../query-source.js';
import type { QueryRows } from '../table-source.js';
import { connectPostgres, postgresName, type PostgresConnection } from './connect-postgres.js';
import { describeFields, type PostgresField } from './describe-query.js';
import { loadCopyStreams } from './load-copy-streams.js';
import { openCursor } from './open-cursor.js';
import { postgresFailure } from './postgres-failure.js';

export interface PostgresSourceOptions {
  /** `postgres://user:password@host:port/database`; its password is never shown. */
  readonly url: string;
  /** One statement that gives rows and changes nothing: it runs in a read-only transaction. */
  readonly query: string;
}

/**
 * The rows of a query in PostgreSQL, of one snapshot. In a durable run the server's transaction ends
 * when the rows are on disk, and not when they are verified.
 *
 * @throws ConfigurationError when the URL has not the form of one; opened, ConfigurationError when the
 *   query is wrong, InputError `input_unreadable` when the server is
 */
export function postgresSource(options: PostgresSourceOptions): Source {
  const { url, query } = options;
  return querySource({
    name: postgresName(url),
    query,
    tellFailure: postgresFailure,
    connect: (signal) => connectPostgres(url, signal),
    askRows: (connection, asking) =>
      askRows(connection, asking, () => connectPostgres(url, asking.signal)),
  });
}

async function askRows(
  connection: PostgresConnection,
  { query, refuse }: Asking,
  connectAgain: () => Promise<PostgresConnection>,
): Promise<QueryRows> {
  await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  const fields = await fieldsForCopy(connection, query);
  const rows = fields
    ? { form: await describeFields(connection, fields), bytes: copyOut(connection, query) }
    : await openCursor(connection, query, connectAgain);
  return {
    form: rows.form,
    bytes: refusing(rows.bytes, refuse),
    close: () => connection.close(),
  };
}

/**
 * The columns of a query that can stand where a table can, which is what COPY takes; `undefined` for any
 * other statement. Nothing is run yet.
 */
async function fieldsForCopy(
  connection: PostgresConnection,
  query: string,
): Promise<readonly PostgresField[] | undefined> {
  await connection.query('SAVEPOINT sluice');
  try {
    // The line end closes a comment at the query's end.
    return await connection.describe(`SELECT * FROM (${query}\n) AS sluice LIMIT 0`);
  } catch (error) {
    const { code } = postgresFailure(error);
    if (code !== syntaxError && code !== notSupported) throw error;
    await connection.query('ROLLBACK TO SAVEPOINT sluice');
    return undefined;
  }
}

const syntaxError = '42601';
const notSupported = '0A000';

async function* copyOut(connection: PostgresConnection, query: string): AsyncGenerator<Uint8Array> {
  const { to } = await loadCopyStreams();
  const stream = connection.submit(to(`COPY (${query}\n) TO STDOUT`));
  let rows = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    rows += countLines(piece);
    yield piece;
  }
  // The number of rows comes behind them, and an error that befell the last one.
  await connection.query('COMMIT');
  const { rowCount } = stream as unknown as { readonly rowCount: number };
  if (rowCount !== rows) throw new Error(`terminated: ${rows} of ${rowCount} rows came`);
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}

async function* refusing(
  bytes: AsyncIterable<Uint8Array>,
  refuse: (error: unknown) => never,
): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    refuse(error);
  }
}
