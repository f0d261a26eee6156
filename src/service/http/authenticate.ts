import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { createHash, timingSafeEqual } from 'node:crypto';
import { apiKeyHeader } from '../../contract/operations.js';
import type { AccountState } from '../storage/service-state.js';
import { HttpProblem } from './http-problem.js';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** What proxies add to a request, beside all that begins with `x-forwarded`. */
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

/** Whether an IP address, as sockets and hosts in URLs name it, is one of this machine's loopback. */
export function isLoopback(address: string | undefined): boolean {
  const bare = (address ?? '').replaceAll('[', '').replaceAll(']', '');
  const plain = bare.toLowerCase().startsWith('::ffff:') ? bare.slice('::ffff:'.length) : bare;
  const family = isIP(plain);
  return family !== 0 && loopback.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a proxy says that it passed a request on: then its peer is not who asks. */
function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(
    (name) => name.startsWith('x-forwarded') || forwardingHeaders.has(name),
  );
}

/** Whether a request began on this machine: over loopback, at both ends, and through no proxy. */
export function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const { localAddress, remoteAddress } = socket;
  return isLoopback(localAddress) && isLoopback(remoteAddress) && !isForwarded(headers);
}

/**
 * Finds the account that a request's key belongs to. All accounts are compared, each in constant time:
 * how long it takes says nothing about a key.
 *
 * "A key that is missing, invalid or revoked is answered with 401, and a JSON body whose `message` is
 * `Unauthorized`" (spec 5).
 *
 * 403 Forbidden (spec 7) comes in conditions that are not shown: here, when the key is good
 * and its account suspended.
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

/** What a key is answered with that is missing, invalid or revoked (spec 5). */
export function unauthorized(): HttpProblem {
  return new HttpProblem(401, 'Unauthorized');
}

/** Browsers ask for a name and a password; the key is the password. */
const askForKey = { 'WWW-Authenticate': 'Basic realm="Sluice", charset="UTF-8"' } as const;

/**
 * Whose batches a person may see: all accounts' from this machine, one account's with its key. What a
 * proxy passes on comes from elsewhere, wherever the proxy is.
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
      if (error instanceof HttpProblem && error.status === 401) throw keyWanted();
      throw error;
    }
  }
  if (!isFromThisMachine(request)) throw keyWanted();
  return accounts;
}

function keyWanted(): HttpProblem {
  return new HttpProblem(401, 'Unauthorized', { headers: askForKey });
}

function keyOf(authorization: string | undefined): string | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}
