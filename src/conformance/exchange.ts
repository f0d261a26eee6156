import { setTimeout as wait } from 'node:timers/promises';
import { TransportError } from '../platform/errors/service-errors.js';
import { parseJson } from '../platform/json.js';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly json: unknown;
  readonly tookMs: number;
}

interface Sent {
  readonly json?: unknown;
  readonly text?: string;
  readonly form?: FormData;
  /** Null sends none. */
  readonly key?: string | null;
}

export type Exchange = (method: string, path: string, sent?: Sent) => Promise<Answer>;

const timeoutMs = 120_000;
/** The service may name a wait; a longer one is ignored. */
const longestWaitMs = 60_000;
const mostWaits = 20;

/** Requests without Sluice's own client. After a 429 it waits as told; nothing else is repeated, no redirect followed. */
export function createExchange(baseUrl: string, apiKey: string, signal: AbortSignal): Exchange {
  let origin = baseUrl;
  while (origin.endsWith('/')) origin = origin.slice(0, -1);
  return async (method, path, sent = {}) => {
    for (let waits = 0; ; waits += 1) {
      const startedAt = performance.now();
      const response = await request(origin + path, method, sent, { apiKey, signal });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const tookMs = performance.now() - startedAt;
      if (response.status === 429 && waits < mostWaits) {
        await wait(waitMs(response.headers.get('retry-after')), undefined, { signal });
        continue;
      }
      const text = new TextDecoder().decode(bytes);
      return {
        status: response.status,
        contentType: response.headers.get('content-type') ?? '',
        bytes,
        text,
        json: parseJson(text),
        tookMs,
      };
    }
  };
}

async function request(
  url: string,
  method: string,
  sent: Sent,
  { apiKey, signal }: { readonly apiKey: string; readonly signal: AbortSignal },
): Promise<Response> {
  const key = sent.key === undefined ? apiKey : sent.key;
  const body =
    sent.form ?? sent.text ?? (sent.json === undefined ? null : JSON.stringify(sent.json));
  const isJson = sent.json !== undefined || sent.text !== undefined;
  try {
    return await fetch(url, {
      method,
      body,
      redirect: 'manual',
      headers: {
        ...(key === null ? {} : { 'X-Api-Key': key }),
        ...(isJson ? { 'Content-Type': 'application/json' } : {}),
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new TransportError(`no answer to ${method} ${new URL(url).pathname}`, {
      code: 'connection_failed',
      operation: 'conformance',
      sent: 'unknown',
      cause,
    });
  }
}

/** Seconds or a date; without one, some seconds. */
function waitMs(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? 5);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(retryAfter ?? '') - Date.now();
  return Math.min(longestWaitMs, Math.max(1000, Number.isFinite(ms) ? ms : 5000));
}
