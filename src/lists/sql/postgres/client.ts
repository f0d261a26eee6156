import { setTimeout as wait } from 'node:timers/promises';
import type { Client, ClientConfig } from 'pg';
import type pg from 'pg';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { closeOnce, keepAliveAfterMs } from '../connection.js';
import { connectionLost } from '../database-failure.js';
import { orAborted } from '../../../platform/waiting/promises.js';
import { systemErrorCode } from '../../../platform/text/system-errors.js';
import {
  parseServerUrl,
  type ServerUrl,
  connectWithTls,
  isWithoutTls,
  type TlsOptions,
} from '../database-url.js';

/** How long a server may take to answer at all. */
const connectTimeoutMs = 30_000;
const goodbyeMs = 1000;

export const schemes = ['postgres', 'postgresql'];

export interface OpenClient {
  readonly client: Client;
  /** Ends it, immediately if an answer is pending. Never fails. */
  readonly close: () => Promise<void>;
  readonly disconnected: Promise<Error>;
}

/** Connects to the database at a URL. Errors are the driver's, and may contain secrets. */
export async function openClient(
  driver: typeof pg,
  url: string,
  signal: AbortSignal | undefined,
): Promise<OpenClient> {
  const server = parseServerUrl(url, schemes);
  return connectWithTls(
    server,
    (tls) => open(new driver.Client(optionsFor(server, tls)), signal),
    isOfOtherWay,
  );
}

function optionsFor(server: ServerUrl, tls: TlsOptions | undefined): ClientConfig {
  return {
    connectionString: driverUrl(server),
    application_name: 'sluice',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    ssl: tls ? { ...tls, ...(!tls.checksHost && { checkServerIdentity: anyHost }) } : false,
  };
}

/** Resolves once connected; closes a failed connection. */
async function open(client: Client, signal: AbortSignal | undefined): Promise<OpenClient> {
  let isOpen = true;
  const close = closeOnce(async () => {
    isOpen = false;
    // A server that is frozen never says goodbye.
    await Promise.race([
      client.end().catch(() => undefined),
      wait(goodbyeMs, undefined, { ref: false }),
    ]);
    client.connection.stream.destroy();
  }, signal);
  const disconnected = new Promise<Error>((resolve) => {
    client.on('error', resolve);
    client.on('end', () => {
      if (isOpen) resolve(connectionLost());
    });
  });
  try {
    // The driver does not report a connection that ends while it is made.
    await orAborted(client.connect(), signal);
    return { client, close, disconnected };
  } catch (error) {
    await close();
    throw connectError(error);
  }
}

/** A setting in the URL that the server does not know or take; a database that the user may not enter. */
const refusedByUrl = /^(?:22|42)|^55P02$/;
/** What a pooler says of a setting, with the code for anything else that it refuses. */
const refusedByPooler = /startup parameter/i;

/** While connecting, these classes are not about a statement or a cell. */
function connectError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isRefused = refusedByUrl.test(systemErrorCode(error) ?? '');
  if (!isRefused && !refusedByPooler.test(error.message)) return error;
  return new ConfigurationError(
    `the PostgreSQL server refuses the connection: ${error.message}; correct its URL`,
  );
}

/** The driver takes a socket's folder as a parameter. */
function driverUrl({ driverUrl: text, socket }: ServerUrl): string {
  const url = new URL(text);
  if (socket !== undefined) url.searchParams.set('host', socket);
  return url.href;
}

const anyHost = (): undefined => undefined;

/** Whether the server refuses this way and may accept the other: encrypted, or not. */
function isOfOtherWay(error: unknown): boolean {
  return isWithoutTls(error) || systemErrorCode(error) === '28000';
}
