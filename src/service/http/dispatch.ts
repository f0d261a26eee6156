import type { IncomingMessage, ServerResponse } from 'node:http';
import { type OperationName, operations } from '../../contract/operations.js';
import type { DisturbedHandler, FaultInjector } from '../faults/fault-injector.js';
import { openapiDocument } from '../openapi/openapi-document.js';
import {
  batchDetails,
  batchStatus,
  deleteBatch,
  launchBatch,
  listBatches,
  prepareBatch,
  updateBatch,
  uploadBatch,
} from '../operations/batches.js';
import { credits, ledger } from '../operations/credits.js';
import { exportBatch } from '../operations/export-batch.js';
import type { Handler, ServiceContext, RequestLog } from '../operations/operation.js';
import { statusPage } from '../operations/status-page.js';
import { format, verifyUnit } from '../operations/units.js';
import { withExtraFields } from '../variants.js';
import { authenticate, guardAgainstCsrf, type RateLimiter } from './access.js';
import {
  HttpProblem,
  isTransient,
  type CorruptedReply,
  ok,
  type Reply,
  sendReply,
  notFound,
} from './reply.js';
import type { Clock } from '../../platform/waiting/clock.js';

interface DispatchOptions {
  readonly service: ServiceContext;
  /** Corrupts answers; `undefined` without planned faults. */
  readonly faults: FaultInjector | undefined;
  readonly rateLimiter: RateLimiter | undefined;
  /** The address on which the service listens. */
  readonly host: string;
  /** Called with every defect that was answered with 500 or by closing the connection. */
  readonly onError: (error: unknown) => void;
}

/** Answers are data, never a page, whatever a browser takes them for. */
const commonHeaders = { 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' } as const;

/** 500 Internal Server Error (spec 7), without the reason. */
const defect = new HttpProblem(500, 'Internal Server Error');

/** A temporary error, such as too many open files: a retry may be served. */
const transient = new HttpProblem(503, 'Service Unavailable', { headers: { 'Retry-After': '1' } });

/** Answers one request; never throws. */
export type Dispatch = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export function createDispatch({
  service,
  faults,
  rateLimiter,
  host,
  onError,
}: DispatchOptions): Dispatch {
  const router = new Router<DisturbedHandler>(createRoutes(faults));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let headers: Readonly<Record<string, string>> = commonHeaders;
    const noted = logRequest(request, response, service);
    try {
      guardAgainstCsrf(request, host, () => hasKey(request));
      const { route, uuid, query } = router.match(request.method ?? '', request.url ?? '');
      noted.path = route.path;
      const account = route.keyed
        ? authenticate(request.headers, service.store.state.accounts.values()).name
        : '';
      noted.account = account;
      if (rateLimiter && !route.path.startsWith(localPrefix)) {
        const client = route.keyed ? `key ${account}` : `from ${request.socket.remoteAddress}`;
        headers = { ...headers, ...rateLimiter.take(client) };
      }
      // Only now the body is wanted: a client that asks first has not sent it in vain.
      if (request.headers.expect !== undefined) response.writeContinue();
      const reply = await route.handle({ request, account, uuid, query }, service);
      if (!response.destroyed) await sendReply(response, extended(reply), headers);
    } catch (error) {
      // Part of the answer is sent: no other can follow.
      if (response.headersSent) throw error;
      const problem = problemOf(error);
      if (problem === undefined && !isGone(request, response)) onError(error);
      if (response.destroyed) return;
      const answer = problem ?? (isTransient(error) ? transient : defect);
      const { status, body } = answer;
      await sendReply(response, { status, json: body }, { ...headers, ...answer.headers });
    }
  }

  function hasKey({ headers }: IncomingMessage): boolean {
    try {
      return authenticate(headers, service.store.state.accounts.values()).name !== '';
    } catch {
      return false;
    }
  }

  function extended(reply: Reply | CorruptedReply): Reply | CorruptedReply {
    if (!('json' in reply) || reply.status !== 200) return reply;
    return { ...reply, json: withExtraFields(service.variants, reply.json) };
  }

  return async (request, response) => {
    try {
      await answer(request, response);
    } catch (error) {
      // Only closing the connection shows that the answer is incomplete. A batch deleted meanwhile is not a
      // defect.
      if (!isGone(request, response) && problemOf(error) === undefined) onError(error);
      response.destroy();
    } finally {
      // The unread rest of the body must not block the next request.
      request.resume();
    }
  };
}

function problemOf(error: unknown): HttpProblem | undefined {
  return error instanceof HttpProblem ? error : undefined;
}

/** The client has left: later failures are not defects. */
function isGone(request: IncomingMessage, response: ServerResponse): boolean {
  return response.destroyed || request.socket.destroyed;
}

const handlers: Readonly<Record<OperationName, Handler>> = {
  credits,
  listBatches,
  uploadBatch,
  batchStatus,
  updateBatch,
  prepareBatch,
  launchBatch,
  deleteBatch,
  exportBatch,
  batchDetails,
  verifyUnit,
  format,
};

/** `GET /openapi.json`: the interface as a document, without a key. */
const openapi: Handler = async () => ok(openapiDocument());

/** `GET /_local/faults`: the planned faults in order, and how often each fired. */
const faults: Handler = async (_call, service) => ok(service.faults?.report() ?? []);

/** The local service's own paths: not limited by the rate, and with a key. */
const localPrefix = '/_local/';

/** The twelve operations of the contract, and the local service's own. */
function createRoutes(injector: FaultInjector | undefined): readonly Route<DisturbedHandler>[] {
  return [
    ...(Object.keys(handlers) as OperationName[]).map((name) => {
      const { method, path, keyed } = operations[name];
      const handler = handlers[name];
      return { method, path, keyed, handle: injector?.disturb(name, handler) ?? handler };
    }),
    { method: 'GET', path: '/', keyed: false, handle: statusPage },
    { method: 'GET', path: '/openapi.json', keyed: false, handle: openapi },
    { method: 'GET', path: `${localPrefix}ledger`, keyed: true, handle: ledger },
    { method: 'GET', path: `${localPrefix}faults`, keyed: true, handle: faults },
  ];
}

const uuidPart = '{batch_uuid}';

interface Route<Handler> {
  readonly method: string;
  readonly path: string;
  readonly keyed: boolean;
  readonly handle: Handler;
}

interface Match<Handler> {
  readonly route: Route<Handler>;
  /** The sent value for `{batch_uuid}`. */
  readonly uuid: string | undefined;
  readonly query: ReadonlyMap<string, string>;
}

export class Router<Handler> {
  readonly #known: readonly { readonly route: Route<Handler>; readonly parts: readonly string[] }[];

  constructor(routes: readonly Route<Handler>[]) {
    this.#known = routes.map((route) => ({ route, parts: route.path.split('/') }));
  }

  match(method: string, given: string): Match<Handler> {
    // A client may name the server there too, as it does for a proxy.
    const target = given.replace(/^https?:\/\/[^/?]*/i, '');
    const queryAt = target.indexOf('?');
    const parts = (queryAt === -1 ? target : target.slice(0, queryAt)).split('/');
    const onPath = this.#known.filter((candidate) => fits(candidate.parts, parts));
    if (onPath.length === 0) throw notFound('Not Found');
    const found = onPath.find(({ route }) => route.method === method);
    if (found === undefined) {
      const allowed = [...new Set(onPath.map(({ route }) => route.method))].join(', ');
      throw new HttpProblem(405, 'Method Not Allowed', { headers: { Allow: allowed } });
    }
    const uuidAt = found.parts.indexOf(uuidPart);
    return {
      route: found.route,
      uuid: uuidAt === -1 ? undefined : parts[uuidAt],
      query: parseQuery(queryAt === -1 ? '' : target.slice(queryAt + 1)),
    };
  }
}

function fits(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length &&
    pattern.every((part, at) => (part === uuidPart ? parts[at] !== '' : part === parts[at]))
  );
}

/** Of a repeated parameter the first counts. */
function parseQuery(text: string): Map<string, string> {
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (!query.has(name)) query.set(name, value);
  }
  return query;
}

/** Logs a request when its answer is over, with what is known by then. */
function logRequest(
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
