import type { IncomingMessage } from 'node:http';
import { apiKeyHeader } from '../../contract/operations.js';
import type { AccountState } from '../store/service-state.js';
import { authenticate } from './authenticate.js';
import { HttpProblem } from './http-problem.js';
import { isFromThisMachine } from './client-address.js';

/** Browsers ask for a name and a password; the key is the password. */
const askForKey = { 'WWW-Authenticate': 'Basic realm="Sluice", charset="UTF-8"' } as const;

/**
 * Whose batches a person may see: all accounts' from this machine, one account's with its key. What a
 * proxy passes on comes from elsewhere, wherever the proxy is.
 *
 * @throws HttpProblem 401 without a key from elsewhere
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
  if (!isFromThisMachine(request)) throw unauthorized();
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
