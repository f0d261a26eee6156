import { setTimeout } from 'node:timers/promises';
import type { Client, QueryArrayResult, Submittable } from 'pg';
import type * as copyStreams from 'pg-copy-streams';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { refuseMissingPackage } from '../../../platform/optional-package.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import type { Connection } from '../connection.js';
import { parseServerUrl, storeOf, tlsWords } from '../database-url.js';
import type { Purpose } from '../dialect.js';
import { connectionWords, type DatabaseFailure, type Refusal } from '../database-failure.js';
import { openClient, schemes, type OpenClient } from './client.js';

/** A connection whose session prints uniformly. */
export interface PostgresConnection extends Connection {
  /** Rows as lists of texts. */
  query(
    text: string,
    values?: readonly (string | number)[],
  ): Promise<readonly (readonly (string | null)[])[]>;
  /** Like `query`, with the columns' descriptions. */
  describe(text: string): Promise<QueryArrayResult['fields']>;
  /** Passes an object to the driver that speaks the protocol itself. */
  submit<Query extends Submittable>(query: Query): Query;
  readonly copy: typeof copyStreams;
  readonly disconnected: Promise<Error>;
}

export const postgresDrivers = {
  by: 'PostgreSQL',
  install: 'pg pg-copy-streams pg-query-stream',
  driver: 'postgres',
} as const;

const poolPatienceMs = 2000;

/** Makes the same rows print the same, in a form that COPY reads. */
const session = [
  "SET client_encoding = 'UTF8'",
  "SET datestyle = 'ISO, YMD'",
  "SET intervalstyle = 'iso_8601'",
  "SET timezone = 'UTC'",
  "SET bytea_output = 'hex'",
  'SET extra_float_digits = 1',
  'SET standard_conforming_strings = on',
  // Meant for short statements; a URL's own stays. Not every version has all of them.
  `SELECT set_config(name, '0', false) FROM pg_settings WHERE source <> 'client' AND name IN
     ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout')`,
].join('; ');

/** How long one statement waits for what another session holds; a writing is tried again. */
const lockWaits: Readonly<Record<Purpose, string>> = {
  read: '',
  look: "SET lock_timeout = '3s'; ",
  write: "SET lock_timeout = '60s'; ",
};

export const name = 'postgres';
export const label = 'PostgreSQL';

export function nameOf(url: string): string {
  return parseServerUrl(url, schemes).name;
}

/** Connects to the database at a URL. Errors are the driver's, and may contain secrets. */
export async function connect(
  url: string,
  purpose: Purpose,
  signal?: AbortSignal,
): Promise<PostgresConnection> {
  signal?.throwIfAborted();
  // All that is needed later: a missing package must be reported while it costs nothing.
  const missing = refuseMissingPackage(postgresDrivers);
  const [{ default: pg }, copy] = await Promise.all([
    import('pg').catch(missing),
    import('pg-copy-streams').catch(missing),
  ]);
  const { client, close, disconnected } = await openClient(pg, url, signal);
  try {
    await client.query(lockWaits[purpose] + session);
    if (purpose !== 'read') await refuseSharedSession(client, () => openClient(pg, url, signal));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    store: storeOf(name, client),
    copy,
    disconnected,
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

/** Refuses a transaction pooler: rows in a temporary table would be in another session, or mix with another run's. */
async function refuseSharedSession(
  client: Client & { readonly processID?: number | null },
  openAnother: () => Promise<OpenClient>,
): Promise<void> {
  const backendOf = async (one: Client) =>
    (await ask(one, 'SELECT pg_backend_pid()', [])).rows[0]?.[0];
  const session = await backendOf(client);
  // A pooler gives its clients numbers of its own.
  if (session === String(client.processID)) return;
  const another = await openAnother();
  const isShared = await Promise.race([
    // While this one is idle, it has the same session.
    backendOf(another.client).then(
      (other) => other === session,
      () => false,
    ),
    // A pool of one session for each client has none left.
    setTimeout(poolPatienceMs, false, { ref: false }),
  ]);
  await another.close();
  if (!isShared) return;
  throw new ConfigurationError(
    'the pooler in front of the database gives each transaction another session, and rows wait in the session to be written: name the server itself, or a pool with pool_mode = session',
  );
}

/** Cells as the server prints them. */
const asPrinted = { getTypeParser: () => (text: string) => text };

function ask(
  client: Client,
  text: string,
  values: readonly unknown[],
): Promise<QueryArrayResult<(string | null)[]>> {
  return client.query({ text, values: [...values], rowMode: 'array', types: asPrinted });
}

const words = new Map([
  ...connectionWords,
  ['28P01', 'the user or the password is refused'],
  ['28000', 'the user is refused'],
  ['3D000', 'database not found'],
  ['53300', 'it has too many connections'],
  ['53100', 'its disk is full'],
  ['P0001', 'a trigger refuses a row'],
  ['55P03', 'another session locks the table'],
  ['40P01', 'another session locks the table'],
  ['57014', 'the statement was cancelled, by its timeout or by a person'],
  ['57P01', 'the server was shut down'],
  ['57P02', 'the server crashed'],
  ['57P03', 'the server is starting up or shutting down'],
  ['EAI_AGAIN', 'the name of the host cannot be looked up now'],
  ['ENOENT', 'socket not found'],
]);

/** Classes of SQLSTATE whose messages name tables, columns and settings, but no cell. */
const openClasses = new Set(['0A', '23', '25', '28', '3D', '3F', '42', '53', '54', '55', '57']);

const refusals = new Map<string, Refusal['kind']>([
  ['23502', 'null'],
  ['23503', 'foreign_key'],
  ['23505', 'repeated'],
  ['23514', 'check'],
  ['22001', 'too_long'],
  ['P0001', 'trigger'],
  ['42501', 'right'],
  ['25006', 'read_only'],
  ['55P03', 'locked'],
  ['40P01', 'locked'],
]);

export function failureOf(error: unknown): DatabaseFailure {
  const code = systemErrorCode(error) ?? innerCode(error) ?? codeOfEnd(error);
  const isMisuse = code !== undefined && /^(?:42(?!501)|25006|0A000|3F|54011)/.test(code);
  const kind = isMadeMeanwhile(error, code)
    ? 'locked'
    : (refusals.get(code ?? '') ?? kindOfClass(error, code?.slice(0, 2) ?? ''));
  const isCell = kind === 'misfit' || kind === 'too_long';
  return {
    words: wordsOf(error, { code, kind }),
    code,
    isMisuse,
    refusal: kind && {
      kind,
      ...placeOf(error),
      ...(isCell && { detail: withoutCells(error instanceof Error ? error.message : '') }),
    },
  };
}

/** Two sessions make the same table, with IF NOT EXISTS too: the later one meets its name in the catalog. */
function isMadeMeanwhile(error: unknown, code: string | undefined): boolean {
  const isOfCatalog = error instanceof Error && 'schema' in error && error.schema === 'pg_catalog';
  return code === '23505' && isOfCatalog;
}

/** Classes of SQLSTATE that the server has itself; a trigger may raise any other. */
const ownClass = /^(?:0[0-389ABFLPZ]|2[0-8BDF]|3[489BDF]|4[024]|5[34578]|72|F0|HV|XX)$/;

function kindOfClass(error: unknown, group: string): Refusal['kind'] | undefined {
  if (!(error instanceof Error && 'severity' in error)) return undefined;
  if (group === '22') return 'misfit';
  if (group === '23') return 'check';
  return ownClass.test(group) ? undefined : 'trigger';
}

function wordsOf(
  error: unknown,
  { code, kind }: { readonly code: string | undefined; readonly kind: Refusal['kind'] | undefined },
): string {
  if (code === '22021') return 'a text holds bytes that its encoding does not have';
  if (kind === 'misfit' || kind === 'too_long') return 'a cell does not fit';
  return wordsFor(error, kind === 'trigger' ? 'P0001' : code);
}

function wordsFor(error: unknown, code: string | undefined): string {
  // An error with a SQLSTATE comes from a connected server.
  const tls = code?.length === 5 ? undefined : tlsWords(error);
  if (tls !== undefined) return tls;
  if (code === undefined) return 'the driver failed';
  const known = words.get(code);
  if (known !== undefined) return known;
  if (openClasses.has(code.slice(0, 2))) return error instanceof Error ? error.message : '';
  return code.startsWith('08') ? 'the connection was lost' : `the server refuses (${code})`;
}

/** `COPY t, line 3, column id: "…"`: the column, without the cell. */
function placeOf(error: unknown): Partial<Refusal> {
  const where = error instanceof Error && 'where' in error ? String(error.where) : '';
  // A trigger has lines, too, of its own text.
  const copied = where.split('\n').find((context) => context.startsWith('COPY ')) ?? '';
  const [, line, cell] = /^COPY .*, line (\d+)(?:, column ([^:"]+))?/.exec(copied) ?? [];
  const named = error instanceof Error && 'column' in error ? error.column : undefined;
  const column = cell ?? (typeof named === 'string' ? named : undefined);
  return { column, ...(line !== undefined && { row: Number(line) }) };
}

function withoutCells(message: string): string {
  return message.replaceAll(/"(?:[^"]|"")*"?/g, '…').replace(/:\s*…$/, '');
}

/** The driver says only in words that a connection has ended. */
function codeOfEnd(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : '';
  return /terminated|ended|closed|not queryable/.test(message) ? 'ECONNRESET' : undefined;
}

function innerCode(error: unknown): string | undefined {
  if (!(error instanceof AggregateError)) return undefined;
  return error.errors.map(systemErrorCode).find((code) => code !== undefined);
}
