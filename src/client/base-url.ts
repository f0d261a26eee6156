import { ConfigurationError } from '../platform/errors/errors.js';

/** Where the service is. */
export interface BaseUrl {
  readonly origin: string;
  /** Path before every operation's path: empty, or `/…` without a slash at its end. */
  readonly prefix: string;
  readonly isLoopback: boolean;
}

/**
 * Checks a base URL. A path in it is kept; slashes at its end do not matter.
 *
 * @throws ConfigurationError `invalid_option`: not an http(s) URL, `http:` to another machine without
 *   `allowInsecureHttp`, or a user name, password, query or fragment in it
 */
export function parseBaseUrl(
  text: string,
  options: { readonly allowInsecureHttp?: boolean | undefined } = {},
): BaseUrl {
  // The text is not repeated in any message: it may hold a password.
  if (!URL.canParse(text))
    throw new ConfigurationError('the base URL is not a URL: write it with https:// in front');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigurationError('the base URL must begin with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ConfigurationError('the base URL must hold no user name and no password');
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) {
    throw new ConfigurationError('the base URL must hold no query and no fragment');
  }
  const isLoopback = isLoopbackHost(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && options.allowInsecureHttp !== true) {
    throw new ConfigurationError(
      'the base URL must begin with https:// unless it is on this machine: the key would travel readable',
    );
  }
  let prefix = url.pathname;
  while (prefix.endsWith('/')) prefix = prefix.slice(0, -1);
  return { origin: url.origin, prefix, isLoopback };
}

/** Whether a host of a URL is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
