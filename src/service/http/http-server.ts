import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Dispatch } from './dispatch.js';
import { jsonType } from './reply.js';

/** Without `import`, as in client/http/response.ts. */
const { createServer } = process.getBuiltinModule('node:http');

/** The limit where the system does not give one, or a useless one. */
const mostConnections = 10_000;
/** Reserved for the log, batches in work, and live verification. */
const reservedFiles = 256;
/** A connection, and the files of its answer or upload. */
const filesAConnection = 3;

/** Most open files of this process, where the system gives it. */
export async function openFilesLimit(path = '/proc/self/limits'): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const line = text.split('\n').find((each) => each.startsWith('Max open files'));
  // The name has three words; the soft limit, which applies, follows it.
  const soft = Number(line?.split(' ').filter((word) => word !== '')[3]);
  return Number.isSafeInteger(soft) ? soft : undefined;
}

/** Most concurrent connections, so that files can still be opened. */
export function connectionsFor(openFiles: number | undefined): number {
  if (openFiles === undefined) return 1000;
  const free = openFiles - Math.min(reservedFiles, Math.floor(openFiles / 2));
  return Math.min(mostConnections, Math.max(4, Math.floor(free / filesAConnection)));
}

interface HttpServerOptions {
  readonly port: number;
  readonly host: string;
  readonly dispatch: Dispatch;
  /** Longest arrival of a request, headers and body: slow clients are cut off. */
  readonly requestTimeoutMs: number;
  /** Requests on further connections are answered with 503. */
  readonly maxConnections: number;
}

interface HttpServer {
  readonly port: number;
  /** Accepts no more requests, closes all connections, and waits for running ones. */
  close(): Promise<void>;
}

const maxHeaderBytes = 16 * 1024;
const headersTimeoutMs = 10_000;
/** Longest inactivity of a connection that should be active. */
const idleTimeoutMs = 300_000;
const keepAliveTimeoutMs = 30_000;
/** Connections that still get a 503; others are closed at once. */
const mostTurnedAway = 32;

export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { requestTimeoutMs, dispatch, maxConnections } = options;
  const underWay = new Set<Promise<void>>();
  const server = createServer({
    maxHeaderSize: maxHeaderBytes,
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(1000, requestTimeoutMs / 4)),
  });
  server.timeout = idleTimeoutMs;
  const open = new Set<Socket>();
  /** Running requests of each connection. What Node itself takes for idle differs by version. */
  const asked = new Map<Socket, number>();
  const turnedAway = new WeakSet<Socket>();
  server.maxConnections = maxConnections + Math.min(mostTurnedAway, maxConnections);
  server.on('connection', (socket: Socket) => {
    if (open.size >= maxConnections) {
      // Idle ones make room; their close events come later.
      for (const [each, count] of asked) {
        if (count > 0) continue;
        each.destroy();
        open.delete(each);
      }
    }
    if (open.size >= maxConnections) turnedAway.add(socket);
    else open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      asked.delete(socket);
    });
  });
  const take = (request: IncomingMessage, response: ServerResponse) => {
    if (turnedAway.has(request.socket)) {
      turnAway(request, response);
      return;
    }
    const { socket } = request;
    asked.set(socket, (asked.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const count = asked.get(socket);
      if (count !== undefined) asked.set(socket, count - 1);
    });
    const answered = dispatch(request, response).finally(() => underWay.delete(answered));
    underWay.add(answered);
  };
  server.on('request', take);
  // Handled like any request: the body is only requested where it will be read.
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

/** Too many connections: this one ends with its answer, and may come again. */
function turnAway(request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'Content-Type': jsonType, Connection: 'close', 'Retry-After': '1' };
  response.writeHead(503, headers).end('{"message":"too many connections"}');
  request.resume();
}
