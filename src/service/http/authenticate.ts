import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { createHash, timingSafeEqual } from 'node:crypto';
import { apiKeyHeader } from '../../contract/operations.js';
import type { AccountState } from '../storage/service-state.js';
import { HttpProblem } from './http-problem.js';

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
export function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
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
