import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { buildConnector as Connecting, Dispatcher } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { withoutContinue } from './without-continue.js';

/** Connections of one client, and their end. */
interface ClosableDispatcher {
  readonly dispatcher: Dispatcher;
  /** Ends all connections, those that are only being made included. */
  readonly close: () => Promise<void>;
}

const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/**
 * Makes the connections of a client: through the proxy that the environment names (`HTTPS_PROXY`,
 * `HTTP_PROXY`, but `NO_PROXY`), or directly; always directly on this machine.
 */
export function createDispatcher(options: {
  readonly connectTimeoutMs: number;
  readonly isLoopback: boolean;
}): ClosableDispatcher {
  const closing = new AbortController();
  // One listener for each open connection is no leak.
  setMaxListeners(0, closing.signal);
  const connection = { timeout: options.connectTimeoutMs, signal: closing.signal };
  const connector = buildConnector(connection);
  const settings = {
    // Silence is watched by the client itself, which knows on whose side it lies.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (target: Connecting.Options, done: Connecting.Callback): void => {
      connector(target, (...[error, socket]) => {
        if (error) done(error, null);
        else done(null, withoutContinue(makePatient(socket)));
      });
    },
  };
  const isProxied =
    !options.isLoopback && proxyVariables.some((name) => (process.env[name] ?? '') !== '');
  const dispatcher = isProxied
    ? createProxied({ ...settings, proxyTls: connection, requestTls: connection })
    : new Agent(settings);
  return {
    dispatcher,
    close: async () => {
      closing.abort();
      await dispatcher.destroy();
    },
  };
}

function createProxied(settings: ConstructorParameters<typeof EnvHttpProxyAgent>[0]): Dispatcher {
  try {
    return new EnvHttpProxyAgent(settings);
  } catch {
    // The cause would print the URL, and with it the proxy's password.
    throw new ConfigurationError('HTTPS_PROXY or HTTP_PROXY does not hold the URL of a proxy');
  }
}

type WriteDone = (error?: Error | null) => void;

/** How a failed write says that the other side no longer listens. */
const brokenPipe: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET']);

/**
 * Makes a socket read what was answered even when writing fails. A service that refuses an upload half
 * way (413, 401) answers and closes; the next write then fails, and a socket that fails forgets what it
 * has received and not yet read. Here the failure of a write is reported only once the reading has come to
 * its own end, which after a reset is at once.
 */
function makePatient<S extends Socket>(socket: S): S {
  const afterReading = (done: WriteDone): WriteDone => {
    return (error) => {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const mayHoldAnswer = !socket.destroyed && !socket.readableEnded;
      if (brokenPipe.has(code) && mayHoldAnswer) socket.once('close', () => done(error));
      else done(error);
    };
  };
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, afterReading(done));
  const writeMany = socket._writev?.bind(socket);
  if (writeMany) socket._writev = (chunks, done) => writeMany(chunks, afterReading(done));
  return socket;
}
