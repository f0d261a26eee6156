import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** What an operation answers. */
export type Reply =
  | { readonly status: number; readonly json: unknown }
  /** A body that is made while it is sent; it is thrown away when its reader leaves. */
  | { readonly status: 200; readonly contentType: string; readonly body: AsyncIterable<string> };

/** An answer that goes out in its own way, or does not: what a planned fault makes of one. */
export interface SpoiltReply {
  send(response: ServerResponse, headers: Readonly<Record<string, string>>): Promise<void>;
}

export const jsonType = 'application/json; charset=utf-8';

/** Characters gathered before they are sent. */
const pieceLength = 64 * 1024;

export function ok(json: unknown): Reply {
  return { status: 200, json };
}

/** A reply in bytes, with the headers that belong to it. */
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
  return { status, headers: { 'Content-Type': reply.contentType }, body: encoded(reply.body) };
}

function jsonHeaders(body: Buffer): Readonly<Record<string, string>> {
  return { 'Content-Type': jsonType, 'Content-Length': String(body.length) };
}

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  for await (const text of texts) yield Buffer.from(text);
}

/** Sends a reply whole; resolves when it is handed to the connection or its reader has left. */
export async function sendReply(
  response: ServerResponse,
  reply: Reply | SpoiltReply,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  if ('send' in reply) return reply.send(response, headers);
  if ('json' in reply) {
    const body = Buffer.from(JSON.stringify(reply.json));
    response.writeHead(reply.status, { ...headers, ...jsonHeaders(body) });
    response.end(body);
    return undefined;
  }
  response.writeHead(reply.status, { ...headers, 'Content-Type': reply.contentType });
  await sendBody(response, reply.body);
}

/**
 * Sends a body at the speed of its reader.
 *
 * @throws whatever the body throws; the connection must then be cut, for an end would look like success
 */
async function sendBody(response: ServerResponse, body: AsyncIterable<string>): Promise<void> {
  let waiting = '';
  for await (const text of body) {
    waiting += text;
    if (waiting.length < pieceLength) continue;
    if (!response.write(waiting)) await drained(response);
    waiting = '';
    if (response.destroyed) return;
  }
  response.end(waiting);
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return;
  const left = new AbortController();
  const leave = () => left.abort();
  response.once('close', leave);
  try {
    await once(response, 'drain', { signal: left.signal });
  } catch (error) {
    if (!left.signal.aborted) throw error;
  } finally {
    response.off('close', leave);
  }
}
