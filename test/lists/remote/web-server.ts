import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../client/test-server.js';

export interface WebRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export interface WebServer {
  readonly origin: string;
  readonly requests: WebRequest[];
}

/** A web server on this machine that ends with the test. */
export async function withWebServer(
  answer: (request: WebRequest, response: ServerResponse, count: number) => void,
): Promise<WebServer> {
  const requests: WebRequest[] = [];
  const server = createServer((incoming, response) => {
    const request = { path: incoming.url ?? '', headers: incoming.headers };
    requests.push(request);
    answer(request, response, requests.length);
  });
  return { origin: await listen(server), requests };
}

export interface ServedList {
  readonly content: () => Buffer;
  readonly etag?: () => string | undefined;
  /** Whether it answers `Range`. @default true */
  readonly hasRanges?: boolean;
  /** After how many bytes of the n-th answer the connection breaks, counted from 1. @default never */
  readonly breaksAfter?: (count: number) => number | undefined;
}

/** Answers as web servers do that serve files. */
export function serveList({ content, etag, hasRanges = true, breaksAfter }: ServedList) {
  return ({ headers }: WebRequest, response: ServerResponse, count: number): void => {
    const all = content();
    const tag = etag?.();
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? -1);
    const isPart =
      hasRanges && start >= 0 && (headers['if-range'] === undefined || headers['if-range'] === tag);
    const body = isPart ? all.subarray(start) : all;
    response.writeHead(isPart ? 206 : 200, {
      'content-length': body.length,
      ...(tag !== undefined && { etag: tag }),
      ...(isPart && { 'content-range': `bytes ${start}-${all.length - 1}/${all.length}` }),
    });
    const most = breaksAfter?.(count);
    if (most === undefined || most >= body.length) response.end(body);
    else response.write(body.subarray(0, most), () => response.destroy());
  };
}
