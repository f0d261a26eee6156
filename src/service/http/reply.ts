import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** What an operation answers. */
export type Reply =
  | { readonly status: number; readonly json: unknown }
  /** A body that is made while it is sent; it is thrown away when its reader leaves. */
  | { readonly status: 200; readonly contentType: string; readonly body: AsyncIterable<string> };

export const jsonType = 'application/json; charset=utf-8';

/** Characters gathered before they are sent. */
const pieceLength = 64 * 1024;

export function ok(json: unknown): Reply {
  return { status: 200, json };
}

/** Sends a reply whole; resolves when it is handed to the connection or its reader has left. */
export async function sendReply(
  response: ServerResponse,
  reply: Reply,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  if ('json' in reply) {
    const body = Buffer.from(JSON.stringify(reply.json));
    response.writeHead(reply.status, {
      ...headers,
      'Content-Type': jsonType,
      'Content-Length': body.length,
    });
    response.end(body);
    return;
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
