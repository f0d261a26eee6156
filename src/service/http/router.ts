import { batchUuid } from '../../contract/bodies.js';
import { HttpProblem, notFound } from './reply.js';
import { validationError } from './read-request.js';

/** Stands for a batch's identifier in a path. */
const uuidPart = '{batch_uuid}';

/** A route. */
export interface Route<Handler> {
  readonly method: string;
  /** Path with `{batch_uuid}` for an identifier. */
  readonly path: string;
  /** Whether the request must carry a key. */
  readonly keyed: boolean;
  readonly handle: Handler;
}

export interface Match<Handler> {
  readonly route: Route<Handler>;
  /** The sent value for `{batch_uuid}`. */
  readonly uuid: string | undefined;
  readonly query: ReadonlyMap<string, string>;
}

/** Finds the route of a request. */
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

/** Validates a `{batch_uuid}` before use. */
export function parseUuid(given: string | undefined): string {
  const parsed = batchUuid.safeParse(given);
  if (parsed.success) return parsed.data.toLowerCase();
  throw validationError([{ field: 'batch_uuid', message: 'is not a uuid' }]);
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
