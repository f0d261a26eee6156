import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, jsonType, sent, type Reply, type CorruptedReply } from '../http/reply.js';
import type { ParsedFault } from './fault.js';

type Headers = Readonly<Record<string, string>>;
type Answer = Extract<ParsedFault['what'], { answer: unknown }>['answer'];
type Cut = Extract<ParsedFault['what'], { cutAtByte: number }>;

/** Ends a connection like a crashed machine. */
export function reset(request: IncomingMessage): void {
  if (!request.socket.destroyed) request.socket.resetAndDestroy();
}

/** Resolves when the other side has left, or the service ends. */
export async function silence(request: IncomingMessage): Promise<void> {
  if (!request.socket.destroyed) await once(request.socket, 'close');
}

/** An answer exactly as planned, even with false headers. */
export function plannedAnswer({ status, headers: given, json, text }: Answer): CorruptedReply {
  return {
    async send(response, headers) {
      const body = Buffer.from(text ?? (json === undefined ? '' : JSON.stringify(json)));
      const own: Headers = { 'Content-Type': jsonType, 'Content-Length': String(body.length) };
      response.writeHead(status, withHeaders({ ...headers, ...own }, given));
      response.end(body);
    },
  };
}

export function cutAnswer(reply: Reply, { cutAtByte, by }: Cut): CorruptedReply {
  return {
    async send(response, headers) {
      const { status, headers: own, body } = bodyOf(reply);
      const { 'Content-Length': _, ...lengthless } = own;
      // An end that looks complete: nothing shows that something is missing.
      response.writeHead(status, { ...headers, ...(by === 'end' ? lengthless : own) });
      response.flushHeaders();
      let left = cutAtByte;
      for await (const piece of body) {
        // Handed to the connection first: what ends it comes after.
        await sent(response, piece.subarray(0, left));
        left -= Math.min(left, piece.length);
        if (left === 0) break;
      }
      await end(response, by);
    },
  };
}

export function drippingAnswer(reply: Reply, pause: () => Promise<void>): CorruptedReply {
  return {
    async send(response, headers) {
      const { status, headers: own, body } = bodyOf(reply);
      response.writeHead(status, { ...headers, ...own });
      response.flushHeaders();
      for await (const piece of body) {
        for (let at = 0; at < piece.length; at += 1) {
          await pause();
          if (response.destroyed) return;
          await sent(response, piece.subarray(at, at + 1));
        }
      }
      response.end();
    },
  };
}

async function end(response: ServerResponse, how: Cut['by']): Promise<void> {
  const { socket } = response;
  switch (how) {
    case 'reset':
      socket?.resetAndDestroy();
      break;
    case 'close':
      socket?.destroySoon();
      break;
    case 'silence':
      await silence(response.req);
      break;
    case 'end':
      response.end();
      break;
  }
}

/** Header names are case-insensitive: duplicates would be an unplanned answer. */
function withHeaders(headers: Headers, given: Headers): Headers {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...given };
}
