import { setTimeout } from 'node:timers/promises';
import type { Client, QueryArrayResult, Submittable } from 'pg';
import type * as copyStreams from 'pg-copy-streams';
import type { Connection } from '../connection.js';
import type { Purpose } from '../dialect.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { notInstalled } from '../../../platform/not-installed.js';
import { parseServerUrl } from '../database-url.js';
import { openClient, schemes, type OpenClient } from './client.js';

/** A connection with a session in which everything prints the same everywhere. */
export interface PostgresConnection extends Connection {
  /** Rows as lists of texts. */
  query(
    text: string,
    values?: readonly (string | number)[],
  ): Promise<readonly (readonly (string | null)[])[]>;
  /** As `query`, with what the columns are. */
  describe(text: string): Promise<QueryArrayResult['fields']>;
  /** Hands something to the driver that speaks the protocol itself. */
  submit<Query extends Submittable>(query: Query): Query;
  /** What speaks the protocol of COPY. */
  readonly copy: typeof copyStreams;
  /** Resolves when the connection is lost, and at no other time. */
  readonly lost: Promise<Error>;
}

/** What is installed to speak to PostgreSQL. */
export const postgresDrivers = {
  by: 'PostgreSQL',
  install: 'pg pg-copy-streams pg-query-stream',
  driver: 'postgres',
} as const;

/** How long another session of a pooler is waited for. */
const poolPatienceMs = 2000;

/** So that the same rows have the same text, in the form that COPY takes back. */
const session = [
  "SET client_encoding = 'UTF8'",
  "SET datestyle = 'ISO, YMD'",
  "SET intervalstyle = 'iso_8601'",
  "SET timezone = 'UTC'",
  "SET bytea_output = 'hex'",
  'SET extra_float_digits = 1',
  'SET standard_conforming_strings = on',
].join('; ');

export const name = 'postgres';
export const label = 'PostgreSQL';

export function nameOf(url: string): string {
  return parseServerUrl(url, schemes).name;
}

/**
 * Connects to the database at a URL. Errors are the driver's, and hold what must not be shown.
 *
 * @throws ConfigurationError `missing_dependency`
 */
export async function connect(
  url: string,
  purpose: Purpose,
  signal?: AbortSignal,
): Promise<PostgresConnection> {
  signal?.throwIfAborted();
  // All that is needed later: what is missing must be said while it costs nothing.
  const missing = notInstalled(postgresDrivers);
  const [{ default: pg }, copy] = await Promise.all([
    import('pg').catch(missing),
    import('pg-copy-streams').catch(missing),
  ]);
  const { client, close, lost } = await openClient(pg, url, signal);
  try {
    await client.query(session);
    if (purpose !== 'read') await refuseSharedSession(client, () => openClient(pg, url, signal));
  } catch (error) {
    await close();
    throw error;
  }
  const { host, port, database } = client;
  return {
    store: `postgres://${host}:${port}/${database ?? ''}`,
    copy,
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

/**
 * Refuses a pooler that gives each transaction any session: rows that wait in a temporary table would be
 * in another one, or meet those of another run.
 *
 * @throws ConfigurationError
 */
async function refuseSharedSession(
  client: Client & { readonly processID?: number | null },
  openAnother: () => Promise<OpenClient>,
): Promise<void> {
  const backendOf = async (one: Client) =>
    (await ask(one, 'SELECT pg_backend_pid()', [])).rows[0]?.[0];
  const own = await backendOf(client);
  // A pooler tells its clients a number of its own.
  if (own === String(client.processID)) return;
  const another = await openAnother();
  const isShared = await Promise.race([
    // While this one is idle, it has the same session.
    backendOf(another.client).then(
      (other) => other === own,
      () => false,
    ),
    // A pool of one session for each client has none left for another.
    setTimeout(poolPatienceMs, false, { ref: false }),
  ]);
  await another.close();
  if (!isShared) return;
  throw new ConfigurationError(
    'the pooler in front of the database gives each transaction another session, and rows wait in the session to be written: name the server itself, or a pool with pool_mode = session',
  );
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
