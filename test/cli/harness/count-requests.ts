import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server } from 'node:http';
import { onTestFinished } from 'vitest';

/**
 * Everything that reaches a server of this process, as `POST /v1/batch`, in the order of its coming.
 *
 * @param onRequest called for each, before it is answered
 */
export function countRequests(
  service: { readonly baseUrl: string },
  onRequest?: (request: string) => void,
): readonly string[] {
  const { port } = new URL(service.baseUrl);
  const seen: string[] = [];
  const note = (message: unknown): void => {
    const { request, server } = message as { request: IncomingMessage; server: Server };
    const address = server.address();
    if (typeof address !== 'object' || String(address?.port) !== port) return;
    const name = `${request.method ?? ''} ${request.url?.replace(/\?.*$/, '') ?? ''}`;
    seen.push(name);
    onRequest?.(name);
  };
  subscribe('http.server.request.start', note);
  onTestFinished(() => {
    unsubscribe('http.server.request.start', note);
  });
  return seen;
}
