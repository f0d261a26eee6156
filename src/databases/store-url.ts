import { ConfigurationError } from '../errors/family.js';

/** A database's address, as far as it may be shown. */
export interface StoreUrl {
  /** How messages call it: neither its password nor its parameters, which may hold one. */
  readonly name: string;
}

/**
 * Takes from a database's URL what may be shown of it. What is wrong with a URL is never quoted: it may
 * hold a password.
 *
 * @throws ConfigurationError
 */
export function parseStoreUrl(text: string, schemes: readonly string[]): StoreUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url?.protocol.slice(0, -1);
  if (url === undefined || scheme === undefined || !schemes.includes(scheme)) {
    throw new ConfigurationError(
      `the database's URL cannot be read: it has the form ${schemes[0] ?? ''}://user:password@host:port/database, with what is special in the password percent-encoded`,
    );
  }
  const user = url.username === '' ? '' : `${url.username}@`;
  return { name: `${scheme}://${user}${url.host}${url.pathname}` };
}
