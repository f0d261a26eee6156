import type { Client, ClientConfig } from 'pg';
import type pg from 'pg';
import { closeOnce, keepAliveAfterMs } from '../connection.js';
import { orAborted } from '../../../platform/waiting/promises.js';
import { systemErrorCode } from '../../../platform/files/disk-errors.js';
import {
  parseServerUrl,
  type ServerUrl,
  connectWithTls,
  isWithoutTls,
  type TlsOptions,
} from '../database-url.js';

/** How long a server may take to answer at all. */
const connectTimeoutMs = 30_000;

export const schemes = ['postgres', 'postgresql'];

/** A client of the driver that is connected. */
export interface OpenClient {
  readonly client: Client;
  /** Ends it, at once where an answer is waited for. Never fails. */
  readonly close: () => Promise<void>;
  /** Resolves when the connection is lost, and at no other time. */
  readonly disconnected: Promise<Error>;
}

/** Connects to the database at a URL. Errors are the driver's, and hold what must not be shown. */
export async function openClient(
  driver: Pick<typeof pg, 'Client'>,
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

/** Resolves when a connection is there; one that fails is closed. */
async function open(client: Client, signal: AbortSignal | undefined): Promise<OpenClient> {
  let isOpen = true;
  const close = closeOnce(async () => {
    isOpen = false;
    await client.end().catch(() => undefined);
  }, signal);
  const disconnected = new Promise<Error>((resolve) => {
    client.on('error', resolve);
    client.on('end', () => {
      if (isOpen) resolve(new Error('Connection terminated'));
    });
  });
  try {
    // The driver says nothing of a connection that is ended while it is made.
    await orAborted(client.connect(), signal);
    return { client, close, disconnected };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The driver takes the folder of a socket as a parameter. */
function driverUrl({ driverUrl: text, socket }: ServerUrl): string {
  const url = new URL(text);
  if (socket !== undefined) url.searchParams.set('host', socket);
  return url.href;
}

const anyHost = (): undefined => undefined;

/** Whether the server lets nobody in this way, and may in the other: encrypted, or not. */
function isOfOtherWay(error: unknown): boolean {
  return isWithoutTls(error) || systemErrorCode(error) === '28000';
}
