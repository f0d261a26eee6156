import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import {
  createServer as createNetServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as the server saw it, its body whole. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface TestServer {
  readonly baseUrl: string;
  /** Requests whose bodies were read to their end. */
  readonly seen: SeenRequest[];
  readonly connections: () => Promise<number>;
}

type Answer = (request: SeenRequest, response: ServerResponse, count: number) => void;

/** On a busy machine more time may pass between two requests: the second would be reset. */
const keepAliveTimeout = 0;

/** A server that reads each request whole, then answers as the test says; it ends with the test. */
export async function startServer(answer: Answer): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  const server = createServer({ keepAliveTimeout }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const whole = { method, url, headers, body: Buffer.concat(chunks) };
      seen.push(whole);
      answer(whole, response, seen.length);
    });
  });
  const baseUrl = await listen(server);
  return { baseUrl, seen, connections: countConnections(server) };
}

/** A server that is handed each request before its body was read. */
export async function startEarlyServer(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
): Promise<TestServer> {
  let count = 0;
  const server = createServer({ keepAliveTimeout }, (request, response) => {
    request.on('error', () => undefined);
    answer(request, response, (count += 1));
  });
  const baseUrl = await listen(server);
  return { baseUrl, seen: [], connections: countConnections(server) };
}

/** A server of bare sockets: for answers that no HTTP server gives. */
export async function startRawServer(
  accept: (socket: Socket, count: number) => void,
): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createNetServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    accept(socket, (count += 1));
  });
  const baseUrl = await listen(server, () => {
    for (const socket of sockets) socket.destroy();
  });
  return { baseUrl, seen: [], connections: countConnections(server) };
}

/** @returns the URL at which it is until the test ends */
export async function listen(
  server: Server | HttpServer,
  closeConnections = () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
  },
): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    const closed = new Promise((resolve) => {
      server.close(resolve);
    });
    closeConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function countConnections(server: Server): () => Promise<number> {
  return async () =>
    new Promise((resolve, reject) => {
      server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** The bytes of an answer as they stand on the wire. */
export function rawAnswer(status: string, headers: readonly string[], body = ''): string {
  return [`HTTP/1.1 ${status}`, ...headers, '', body].join('\r\n');
}
