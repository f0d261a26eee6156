import type { ServerResponse } from 'node:http';

/** Ends a request with an error status (spec 7) and a JSON body with a `message`. */
export class HttpProblem extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: {
      readonly body?: Readonly<Record<string, unknown>>;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(message);
    this.name = 'HttpProblem';
    this.status = status;
    this.body = { message, ...more.body };
    this.headers = more.headers ?? {};
  }
}

/** 400 Bad Request with a `message` (spec 7): not possible in the current state. */
export function badRequest(message: string): HttpProblem {
  return new HttpProblem(400, message);
}

/** 404 Not Found (spec 7). */
export function notFound(message: string): HttpProblem {
  return new HttpProblem(404, message);
}

const transient: ReadonlySet<unknown> = new Set([
  'EAGAIN',
  'EDQUOT',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'ENOSPC',
]);

/** Whether a system error is a temporary shortage: open files, memory, disk space. The call may be repeated. */
export function isTransient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && transient.has(error.code);
}

/** The wait before the n-th retry, from 1: doubling up to half a minute. */
export function transientWaitMs(repetition: number): number {
  return Math.min(30_000, 125 * 2 ** repetition);
}

/** A body made while it is sent, and dropped when its reader leaves. Bytes are valid until the next piece. */
type ReplyBody = AsyncIterable<string | Uint8Array>;

export type Reply =
  | { readonly status: number; readonly json: unknown }
  | {
      readonly status: 200;
      readonly contentType: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: ReplyBody;
    };

/** An answer corrupted by a planned fault: sent in its own way, or not at all. */
export interface CorruptedReply {
  send(response: ServerResponse, headers: Readonly<Record<string, string>>): Promise<void>;
}

export const jsonType = 'application/json; charset=utf-8';

/** Characters gathered before they are sent. */
const pieceLength = 64 * 1024;

export function ok(json: unknown): Reply {
  return { status: 200, json };
}

export function bodyOf(reply: Reply): {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Iterable<Buffer> | AsyncIterable<Buffer>;
} {
  const { status } = reply;
  if ('json' in reply) {
    const body = Buffer.from(JSON.stringify(reply.json));
    return { status, headers: jsonHeaders(body), body: [body] };
  }
  return { status, headers: bodyHeaders(reply), body: encoded(reply.body) };
}

function bodyHeaders({
  contentType,
  headers,
}: Extract<Reply, { body: unknown }>): Readonly<Record<string, string>> {
  return { 'Content-Type': contentType, ...headers };
}

function jsonHeaders(body: Buffer): Readonly<Record<string, string>> {
  return { 'Content-Type': jsonType, 'Content-Length': String(body.length) };
}

async function* encoded(pieces: ReplyBody): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) {
    yield typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece);
  }
}

/**
 * Sends a complete reply; resolves when it is handed to the connection or its reader has left.
 *
 * @throws its body's error. If nothing was sent yet, another answer may follow.
 */
export async function sendReply(
  response: ServerResponse,
  reply: Reply | CorruptedReply,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  if ('send' in reply) return reply.send(response, headers);
  if ('json' in reply) {
    const body = Buffer.from(JSON.stringify(reply.json));
    response.writeHead(reply.status, { ...headers, ...jsonHeaders(body) });
    response.end(body);
    return undefined;
  }
  await sendBody(response, reply.body, () =>
    response.writeHead(reply.status, { ...headers, ...bodyHeaders(reply) }),
  );
}

/** Sends a body at its reader's speed. The head goes with the first piece: another answer may replace both. */
async function sendBody(
  response: ServerResponse,
  body: ReplyBody,
  sendHead: () => void,
): Promise<void> {
  let waiting = '';
  for await (const piece of body) {
    const isText = typeof piece === 'string';
    if (isText) waiting += piece;
    if (isText && waiting.length < pieceLength) continue;
    if (!response.headersSent) sendHead();
    // As bytes: text would be scanned again for its length.
    await sent(response, Buffer.from(waiting));
    waiting = '';
    if (!isText) await sent(response, piece);
    if (isLeft(response)) return;
  }
  if (isLeft(response)) return;
  if (!response.headersSent) sendHead();
  response.end(waiting);
}

/** Resolves when a piece was handed to the connection, or nobody takes it any more. */
export async function sent(response: ServerResponse, piece: Uint8Array): Promise<void> {
  if (piece.length === 0 || isLeft(response)) return;
  const { socket } = response.req;
  await new Promise<void>((resolve) => {
    // When the reader leaves, the callback of a pending write never comes.
    socket.once('close', resolve);
    response.write(piece, () => {
      socket.off('close', resolve);
      resolve();
    });
  });
}

/** A reply that waits behind another on its connection gets no event when that closes. */
function isLeft(response: ServerResponse): boolean {
  return response.destroyed || response.req.socket.destroyed;
}
