import type { Dispatcher } from 'undici';
import { createDispatcher } from '../../client/http/connections.js';
import { isLoopbackHost } from '../../client/client-options.js';
import { fileShape, type FileOptions } from '../files/file-options.js';
import { inputSource } from '../files/file-source.js';
import { checkOptions } from '../../platform/check-options.js';
import type { Source } from '../rows/source.js';
import { httpObject, parseWebAddress } from './http-object.js';
import { remoteInput, remoteShape, type RemoteOptions } from './remote-input.js';

const connectTimeoutMs = 10_000;

/**
 * The rows of a list on a web server, as often as asked, of any format. A user and a password in the
 * address are sent to its server only, and named nowhere, nor is its query.
 *
 * @throws ConfigurationError `invalid_option` for an address that is not https
 *
 * @example
 * ```ts
 * const source = httpSource('https://lists.example.com/contacts.csv', { delimiter: ';' });
 * console.log(source.name); // https://lists.example.com/contacts.csv
 * ```
 */
export function httpSource(address: string, options: FileOptions & RemoteOptions = {}): Source {
  checkOptions(options, { ...fileShape, ...remoteShape });
  const web = parseWebAddress(address);
  const object = httpObject(web, dispatcherFor(web.url));
  return inputSource(remoteInput(object, options), web.url.pathname, options);
}

const dispatchers = new Map<boolean, Dispatcher>();

/** Connections that nothing uses do not keep the process alive: they are shared and never closed. */
function dispatcherFor({ hostname }: URL): Dispatcher {
  const isLoopback = isLoopbackHost(hostname);
  const known = dispatchers.get(isLoopback);
  if (known) return known;
  const { dispatcher } = createDispatcher({ connectTimeoutMs, isLoopback });
  dispatchers.set(isLoopback, dispatcher);
  return dispatcher;
}
