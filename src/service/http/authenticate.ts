import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { apiKeyHeader } from '../../contract/operations.js';
import type { AccountState } from '../store/service-state.js';
import { HttpProblem } from './http-problem.js';

/**
 * Finds the account that a request's key belongs to. All accounts are compared, each in constant time:
 * how long it takes says nothing about a key.
 *
 * "A key that is missing, invalid or revoked is answered with 401, and a JSON body whose `message` is
 * `Unauthorized`" (spec 5).
 *
 * 403 Forbidden (spec 7) comes in conditions that are not shown: here, when the key is good
 * and its account suspended.
 *
 * @throws HttpProblem 401, 403
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
