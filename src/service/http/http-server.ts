import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Dispatch } from './dispatch.js';
import { jsonType } from './reply.js';

/** Without `import`, as in client/http/response.ts. */
const { createServer } = process.getBuiltinModule('node:http');

/** Where the system does not say how many files may be open, or says more than is of use. */
const mostConnections = 10_000;
/** What is left for the log, batches that are worked on, and conversations with others. */
const reservedFiles = 256;
/** A connection, and the files of the answer or the upload on it. */
const filesAConnection = 3;

/** How many files this process may have open, where the system says so. */
export async function openFilesLimit(path = '/proc/self/limits'): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const line = text.split('\n').find((each) => each.startsWith('Max open files'));
  // The name has three words; the soft limit, which is the one that holds, follows it.
  const soft = Number(line?.split(' ').filter((word) => word !== '')[3]);
  return Number.isSafeInteger(soft) ? soft : undefined;
}

/** How many connections there may be at once, so that files can still be opened. */
export function connectionsFor(openFiles: number | undefined): number {
  if (openFiles === undefined) return 1000;
  const free = openFiles - Math.min(reservedFiles, Math.floor(openFiles / 2));
  return Math.min(mostConnections, Math.max(4, Math.floor(free / filesAConnection)));
}

interface HttpServerOptions {
  readonly port: number;
  readonly host: string;
  readonly dispatch: Dispatch;
  /** How long a request may take to arrive, headers and body: slow clients are cut off. */
  readonly requestTimeoutMs: number;
  /** Requests on connections beyond so many are answered with 503. */
  readonly maxConnections: number;
}

interface HttpServer {
  readonly port: number;
  /** Takes no more requests, cuts all connections and waits for what is under way. */
  close(): Promise<void>;
}

const maxHeaderBytes = 16 * 1024;
const headersTimeoutMs = 10_000;
/** A connection on which nothing moves, in either direction, while it should. */
const idleTimeoutMs = 300_000;
const keepAliveTimeoutMs = 30_000;
/** Connections that are still answered, if only with 503; others are closed without a word. */
const mostTurnedAway = 32;

/** Listens; the promise resolves when requests are answered. */
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
  /**
   * How many requests are under way on each, once there was one. What Node itself takes for idle differs
   * by its version.
   */
  const asked = new Map<Socket, number>();
  const turnedAway = new WeakSet<Socket>();
  server.maxConnections = maxConnections + Math.min(mostTurnedAway, maxConnections);
  server.on('connection', (socket: Socket) => {
    if (open.size >= maxConnections) {
      // Those on which nothing is asked make room; their close events come only later.
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

/** Too many connections: this one ends with its answer, and may come again. */
function turnAway(request: IncomingMessage, response: ServerResponse): void {
  const headers = { 'Content-Type': jsonType, Connection: 'close', 'Retry-After': '1' };
  response.writeHead(503, headers).end('{"message":"too many connections"}');
  request.resume();
}
