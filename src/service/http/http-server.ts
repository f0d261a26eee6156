import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dispatch } from './dispatch.js';

export interface HttpServerOptions {
  readonly port: number;
  readonly host: string;
  readonly dispatch: Dispatch;
  /** How long a request may take to arrive, headers and body: slow clients are cut off. */
  readonly requestTimeoutMs: number;
}

export interface HttpServer {
  readonly port: number;
  /** Takes no more requests, cuts all connections and waits for what is under way. */
  close(): Promise<void>;
}

const maxHeaderBytes = 16 * 1024;
const headersTimeoutMs = 10_000;
/** A connection on which nothing moves, in either direction, while it should. */
const idleTimeoutMs = 300_000;
const keepAliveTimeoutMs = 30_000;

/** Listens; the promise resolves when requests are answered. */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { requestTimeoutMs, dispatch } = options;
  const underWay = new Set<Promise<void>>();
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(1000, requestTimeoutMs / 4)),
  });
  server.timeout = idleTimeoutMs;
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const answered = dispatch(request, response).finally(() => underWay.delete(answered));
    underWay.add(answered);
  };
  server.on('request', take);
  // Handled like any request: the body is only asked for where it will be read.
  server.on('checkContinue', take);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await Promise.all(underWay);
    },
  };
}
