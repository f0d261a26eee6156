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

export class RequestLog {
  #total = 0;
  #last: readonly LoggedRequest[] = [];

  get total(): number {
    return this.#total;
  }

  /** The latest first. */
  get last(): readonly LoggedRequest[] {
    return this.#last;
  }

  add(request: LoggedRequest): void {
    this.#total += 1;
    this.#last = [request, ...this.#last.slice(0, mostRemembered - 1)];
  }
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
