import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../platform/waiting/clock.js';

/** An answered request, for people: without its content. */
export interface LoggedRequest {
  readonly atMs: number;
  readonly method: string;
  /** The known path, or null. */
  readonly path: string | null;
  /** Name of the key's account; empty without a valid key. */
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

/** Logs a request when its answer is over, with what is known by then. */
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
    // The status page requests itself every few seconds, and would push out everything else.
    if (known.path === '/' && status === 200) return;
    requests.add({ atMs, method, ...known, status, tookMs });
  });
  return known;
}
