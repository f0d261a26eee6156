import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../platform/waiting/clock.js';

/** A request that was answered, as people may look at it: nothing of what was sent is in it. */
export interface LoggedRequest {
  readonly atMs: number;
  readonly method: string;
  /** The path that the service knows; null when it knows none. */
  readonly path: string | null;
  /** Name of the account whose key came with it; empty without one that holds. */
  readonly account: string;
  /** Null when the connection ended before an answer began. */
  readonly status: number | null;
  readonly tookMs: number;
}

const mostRemembered = 50;

export interface RequestLog {
  readonly total: number;
  /** The latest first. */
  readonly last: readonly LoggedRequest[];
  add(request: LoggedRequest): void;
}

export function createRequestLog(): RequestLog {
  let total = 0;
  let last: readonly LoggedRequest[] = [];
  return {
    get total() {
      return total;
    },
    get last() {
      return last;
    },
    add(request) {
      total += 1;
      last = [request, ...last.slice(0, mostRemembered - 1)];
    },
  };
}

/** Notes a request when its answer is over; what becomes known meanwhile is filled in. */
export function logRequest(
  { method = '' }: IncomingMessage,
  response: ServerResponse,
  { requests, clock }: { readonly requests: RequestLog; readonly clock: Clock },
): { path: string | null; account: string } {
  const known: { path: string | null; account: string } = { path: null, account: '' };
  const atMs = clock.wallNow();
  const startedAt = performance.now();
  response.once('close', () => {
    const tookMs = performance.now() - startedAt;
    const status = response.headersSent ? response.statusCode : null;
    // The status page asks for itself every few seconds, and would push out what it shows.
    if (known.path === '/' && status === 200) return;
    requests.add({ atMs, method, ...known, status, tookMs });
  });
  return known;
}
