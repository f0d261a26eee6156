import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { buildConnector as Connecting, Dispatcher } from 'undici';
import { ConfigurationError } from '../../platform/errors/errors.js';

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
    throw new ConfigurationError('HTTPS_PROXY or HTTP_PROXY does not hold the URL of a proxy', {
      fault: 'other_format',
    });
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

/** How undici begins each request: with one string. Bodies are bytes. */
const requestHead = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/;
/** How an interim answer begins; after a 101 the connection no longer speaks HTTP. */
const interimHead = /^HTTP\/1\.[01] 1(?!01)\d\d/;
const statusAt = 'HTTP/1.1 '.length;
const statusEnd = statusAt + 3;
const headEnd = '\r\n\r\n';
/** As of any answer. */
const longestHead = 16 * 1024;

/**
 * Makes a socket show an interim answer 100 as a 102. A client ignores those that it did not ask for (RFC 9110,
 * 15.2); undici does so with all but 100, at which it drops the connection, and with it an answer that may be paid
 * for. Only heads are looked at, from the beginning of a request to its final answer: a body may contain anything.
 */
function withoutContinue<S extends Socket>(socket: S): S {
  const heads = new InterimHeads();
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  socket.read = (size) => {
    const chunk: unknown = read(size);
    return chunk instanceof Buffer ? heads.rewritten(chunk) : chunk;
  };
  socket.write = (chunk: unknown, ...more: unknown[]): boolean => {
    if (typeof chunk === 'string' && requestHead.test(chunk)) heads.await();
    return write(chunk, ...more);
  };
  return socket;
}

class InterimHeads {
  #isAwaited = false;
  /** The beginning of a head that has not come whole. */
  #held: Buffer = Buffer.alloc(0);

  await(): void {
    this.#isAwaited = true;
  }

  /** @returns the bytes that may be read so far; `null` as long as there are none */
  rewritten(chunk: Buffer): Buffer | null {
    if (!this.#isAwaited) return chunk;
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    let at = 0;
    while (this.#isAwaited && at < bytes.length) {
      const end = this.#endOfInterim(bytes, at);
      if (end === undefined) break;
      this.#isAwaited = end > at;
      at = end;
    }
    const readable = this.#isAwaited ? at : bytes.length;
    this.#held = bytes.subarray(readable);
    return readable === 0 ? null : bytes.subarray(0, readable);
  }

  /** @returns where an interim head ends; its beginning where it is another; `undefined` as long as it is not whole */
  #endOfInterim(bytes: Buffer, from: number): number | undefined {
    const length = bytes.length - from;
    if (length < statusEnd) return undefined;
    if (!interimHead.test(bytes.toString('latin1', from, from + statusEnd))) return from;
    const end = bytes.indexOf(headEnd, from, 'latin1');
    if (end === -1) return length < longestHead ? undefined : from;
    if (bytes.toString('latin1', from + statusAt, from + statusEnd) === '100') {
      bytes.write('102', from + statusAt, 'latin1');
    }
    return end + headEnd.length;
  }
}
