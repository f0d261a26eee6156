import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { apiKeyHeader } from '../../contract/operations.js';
import type { AccountState } from '../store/service-state.js';
import { authenticate } from './authenticate.js';
import { HttpProblem } from './http-problem.js';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Browsers ask for a name and a password; the key is the password. */
const askForKey = { 'WWW-Authenticate': 'Basic realm="Sluice", charset="UTF-8"' } as const;

/**
 * Whose batches a person may see: all accounts' from this machine, one account's with its key.
 *
 * From this machine the Host header must name it: a page from elsewhere whose name was made to point
 * here would otherwise be let in.
 *
 * @returns the accounts, and whether a key was asked for
 * @throws HttpProblem 401 without a key from elsewhere, 403 for a host that is none of this machine's
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
      if (error instanceof HttpProblem && error.status === 401) throw unauthorized();
      throw error;
    }
  }
  const { localAddress, remoteAddress } = request.socket;
  if (!isLoopback(localAddress) || !isLoopback(remoteAddress)) throw unauthorized();
  if (!isLoopbackHost(request.headers.host)) throw new HttpProblem(403, 'Forbidden');
  return accounts;
}

function unauthorized(): HttpProblem {
  return new HttpProblem(401, 'Unauthorized', { headers: askForKey });
}

function keyOf(authorization: string | undefined): string | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}

function isLoopback(address: string | undefined): boolean {
  const plain = (address ?? '').replace(/^::ffff:/, '');
  const family = isIP(plain);
  return family !== 0 && loopback.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

function isLoopbackHost(host: string | undefined): boolean {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host ?? '') ?? [];
  return name.toLowerCase() === 'localhost' || isLoopback(name.replaceAll(/[[\]]/g, ''));
}
