import type { Client, QueryArrayResult, Submittable } from 'pg';
import { loadDriver } from '../load-driver.js';
import { parseStoreUrl } from '../store-url.js';

/** A connection with a session in which everything prints the same everywhere. */
export interface PostgresConnection {
  /** Which database it is, without user and password. */
  readonly store: string;
  /** Rows as lists of texts. */
  query(
    text: string,
    values?: readonly unknown[],
  ): Promise<readonly (readonly (string | null)[])[]>;
  /** As `query`, with what the columns are. */
  describe(text: string): Promise<QueryArrayResult['fields']>;
  /** Hands something to the driver that speaks the protocol itself. */
  submit<Query extends Submittable>(query: Query): Query;
  /** Resolves when the connection is lost, and at no other time. */
  readonly lost: Promise<Error>;
  /** Lets go of the server; a statement under way ends with it. Never fails. */
  close(): Promise<void>;
}

/** What is installed to speak to PostgreSQL. */
export const postgresDrivers = {
  database: 'PostgreSQL',
  install: 'pg pg-copy-streams pg-query-stream',
} as const;

/** How long a server may take to answer at all. */
const connectTimeoutMs = 30_000;

/** So that the same rows have the same text, in the form that COPY takes back. */
const session = [
  "SET client_encoding = 'UTF8'",
  "SET datestyle = 'ISO, YMD'",
  "SET intervalstyle = 'postgres'",
  "SET timezone = 'UTC'",
  "SET bytea_output = 'hex'",
  'SET extra_float_digits = 1',
  'SET standard_conforming_strings = on',
].join('; ');

/** How messages call the database at a URL: without password and parameters. */
export function postgresName(url: string): string {
  return parseStoreUrl(url, ['postgres', 'postgresql']).name;
}

/**
 * Connects to the database at a URL. Errors are the driver's, and hold what must not be shown.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function connectPostgres(
  url: string,
  signal?: AbortSignal,
): Promise<PostgresConnection> {
  signal?.throwIfAborted();
  const { default: pg } = await loadDriver(() => import('pg'), postgresDrivers);
  const client = new pg.Client({
    connectionString: url,
    application_name: 'sluice',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    signal?.removeEventListener('abort', stop);
    await client.end().catch(() => undefined);
  };
  const stop = (): void => {
    void close();
  };
  const lost = new Promise<Error>((resolve) => {
    client.on('error', resolve);
    client.on('end', () => {
      if (!isClosed) resolve(new Error('Connection terminated'));
    });
  });
  signal?.addEventListener('abort', stop);
  try {
    await client.connect();
    await client.query(session);
  } catch (error) {
    await close();
    throw error;
  }
  const { host, port, database } = client;
  return {
    store: `postgres://${host}:${port}/${database ?? ''}`,
    lost,
    close,
    async query(text, values = []) {
      const { rows } = await ask(client, text, values);
      return rows;
    },
    async describe(text) {
      const { fields } = await ask(client, text, []);
      return fields;
    },
    submit: (query) => client.query(query),
  };
}

/** Cells come as the server prints them. */
const asPrinted = { getTypeParser: () => (text: string) => text };

function ask(
  client: Client,
  text: string,
  values: readonly unknown[],
): Promise<QueryArrayResult<(string | null)[]>> {
  return client.query({ text, values: [...values], rowMode: 'array', types: asPrinted });
}
