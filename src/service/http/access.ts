import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { createHash, timingSafeEqual } from 'node:crypto';
import { apiKeyHeader } from '../../contract/operations.js';
import type { AccountState } from '../storage/service-state.js';
import { HttpProblem } from './reply.js';
import { optionName } from '../../platform/text/sentence.js';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Headers of proxies, besides all that begin with `x-forwarded`. */
const forwardingHeaders = new Set([
  'cf-connecting-ip',
  'client-ip',
  'forwarded',
  'forwarded-for',
  'true-client-ip',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
  'x-original-host',
  'x-real-ip',
]);

/** Whether an IP address, of a socket or in a URL, is a loopback one. */
export function isLoopback(address: string | undefined): boolean {
  const bare = (address ?? '').replaceAll('[', '').replaceAll(']', '');
  const plain = bare.toLowerCase().startsWith('::ffff:') ? bare.slice('::ffff:'.length) : bare;
  const family = isIP(plain);
  return family !== 0 && loopback.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a proxy has passed on a request: then its peer is not the client. */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(
    (name) => name.startsWith('x-forwarded') || forwardingHeaders.has(name),
  );
}

/** Whether a request began on this machine: over loopback, at both ends, and through no proxy. */
function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const { localAddress, remoteAddress } = socket;
  return isLoopback(localAddress) && isLoopback(remoteAddress) && !isForwarded(headers);
}

/**
 * Finds the account of a request's key. All accounts are compared in constant time: the duration says nothing
 * about a key.
 *
 * "A key that is missing, invalid or revoked is answered with 401, and a JSON body whose `message` is
 * `Unauthorized`" (spec 5).
 *
 * The conditions of 403 Forbidden (spec 7) are not shown: here it means a valid key of a suspended account.
 */
export function authenticate(
  headers: IncomingHttpHeaders,
  accounts: Iterable<AccountState>,
): AccountState {
  const given = headers[apiKeyHeader];
  const digest = createHash('sha256')
    .update(typeof given === 'string' ? given : '')
    .digest();
  let found: AccountState | undefined;
  for (const account of accounts) {
    if (account.keySha256 === null) continue;
    if (timingSafeEqual(digest, Buffer.from(account.keySha256, 'hex'))) found = account;
  }
  if (found === undefined || typeof given !== 'string' || given === '') {
    throw unauthorized();
  }
  if (found.isSuspended) throw new HttpProblem(403, 'Forbidden');
  return found;
}

/** The answer to a missing, invalid or revoked key (spec 5). */
export function unauthorized(): HttpProblem {
  return new HttpProblem(401, 'Unauthorized');
}

/** Browsers ask for a name and a password, which is the key. */
const askForKey = { 'WWW-Authenticate': 'Basic realm="Sluice", charset="UTF-8"' } as const;

/**
 * Whose batches a person may see: all from this machine, one account's with its key. A proxied request comes
 * from elsewhere, wherever the proxy is.
 */
export function pageAccounts(
  request: IncomingMessage,
  accounts: readonly AccountState[],
): readonly AccountState[] {
  const key = request.headers[apiKeyHeader] ?? keyOf(request.headers.authorization);
  if (key !== undefined) {
    try {
      return [authenticate({ [apiKeyHeader]: key }, accounts)];
    } catch (error) {
      if (error instanceof HttpProblem && error.status === 401) throw keyRequired();
      throw error;
    }
  }
  if (!isFromThisMachine(request)) throw keyRequired();
  return accounts;
}

function keyRequired(): HttpProblem {
  return new HttpProblem(401, 'Unauthorized', { headers: askForKey });
}

function keyOf(authorization: string | undefined): string | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}

const reasons = {
  origin: 'Forbidden: a web page of another origin may not ask this service',
  get host() {
    return (
      'Forbidden: the Host header names another machine; ' +
      `use localhost, a loopback address, the name that ${optionName('host')} gives, or a key`
    );
  },
} as const;

/**
 * Refuses requests that a browser sends for another web page. Such a page cannot read the answer, but could
 * make requests that need no key; and a name pointed here (DNS rebinding) could read it, too.
 *
 * The Host header is checked only for requests from this machine: from elsewhere, and behind a proxy, the
 * service has unknown names, and reveals nothing without a key. A request with a valid key passes.
 *
 * @param host the address on which the service listens
 *
 * @param hasKey whether the request has a valid key
 */
export function guardAgainstCsrf(
  request: IncomingMessage,
  host: string,
  hasKey: () => boolean,
): void {
  const { method = '', headers } = request;
  if (isOfOtherOrigin(method, headers)) throw new HttpProblem(403, reasons.origin);
  if (!isFromThisMachine(request) || isSameHost(headers.host, host)) return;
  if (!hasKey()) throw new HttpProblem(403, reasons.host);
}

function isOfOtherOrigin(method: string, headers: IncomingHttpHeaders): boolean {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (origin !== undefined) return !isSameOrigin(origin, headers);
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  // A link that a person follows: its page sees nothing of the target.
  const isFollowed = mode === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return !(isFollowed && (method === 'GET' || method === 'HEAD'));
}

/** Whether an origin is the request's own target, as named by the client or its proxy. */
function isSameOrigin(origin: string, headers: IncomingHttpHeaders): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  const named = [headers.host, headers['x-forwarded-host']].flatMap((name) => name ?? []);
  return named.some((name) => hostOf(protocol, name)?.host === host);
}

function isSameHost(named: string | undefined, given: string): boolean {
  const hostname = hostOf('http:', named ?? '')?.hostname.replace(/\.$/, '');
  if (hostname === undefined) return false;
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    isLoopback(hostname) ||
    hostname === hostOf('http:', given.includes(':') ? `[${given}]` : given)?.hostname
  );
}

function hostOf(protocol: string, host: string): URL | undefined {
  const text = `${protocol}//${host}`;
  if (host === '' || /[/?#@\\\s]/.test(host) || !URL.canParse(text)) return undefined;
  return new URL(text);
}

const minuteMs = 60_000;
/** Most remembered clients; beyond that, those without debt are forgotten. */
const mostClients = 10_000;
/** Rounding error of sums, in milliseconds. */
const toleranceMs = 1e-6;

/** A client's usage: each request costs its share of a minute, which time pays off. */
interface Debt {
  ms: number;
  countedAtMs: number;
}

/** A token bucket for each client: `perMinute` requests at once, refilled evenly. */
export class RateLimiter {
  readonly #perMinute: number;
  readonly #requestMs: number;
  readonly #now: () => number;
  readonly #debts = new Map<string, Debt>();

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#requestMs = minuteMs / perMinute;
    this.#now = now;
  }

  /** Counts a request of a client. @returns headers with the rest */
  take(client: string): Readonly<Record<string, string>> {
    const debt = this.#debtOf(client);
    const waitMs = debt.ms + this.#requestMs - minuteMs;
    const isAllowed = waitMs <= toleranceMs;
    if (isAllowed) debt.ms += this.#requestMs;
    const left = Math.floor((minuteMs - debt.ms + toleranceMs) / this.#requestMs);
    const headers = {
      'X-RateLimit-Limit': String(this.#perMinute),
      'X-RateLimit-Remaining': String(Math.max(0, left)),
    };
    if (isAllowed) return headers;
    throw new HttpProblem(429, 'Too Many Requests', {
      headers: { ...headers, 'Retry-After': String(Math.ceil(waitMs / 1000)) },
    });
  }

  #payOff(debt: Debt): void {
    const atMs = this.#now();
    debt.ms = Math.max(0, debt.ms - Math.max(0, atMs - debt.countedAtMs));
    debt.countedAtMs = atMs;
  }

  #debtOf(client: string): Debt {
    let debt = this.#debts.get(client);
    if (debt === undefined) {
      if (this.#debts.size >= mostClients) this.#forgetPaid();
      debt = { ms: 0, countedAtMs: this.#now() };
      this.#debts.set(client, debt);
    }
    this.#payOff(debt);
    return debt;
  }

  #forgetPaid(): void {
    for (const [client, debt] of this.#debts) {
      this.#payOff(debt);
      if (debt.ms === 0) this.#debts.delete(client);
    }
  }
}
