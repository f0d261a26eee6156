import type { Dispatcher } from 'undici';
import { createDispatcher } from '../../client/http/connections.js';
import { isLoopbackHost } from '../../client/client-options.js';
import { fileShape, type FileOptions } from '../files/file-format.js';
import { inputSource } from '../files/file-source.js';
import { checkOptions, checkValue } from '../../platform/check-options.js';
import { url } from '../../platform/option-kinds.js';
import type { Source } from '../rows/source.js';
import {
  remoteInput,
  remoteShape,
  type RemoteOptions,
  changedError,
  parseContentRange,
  TransientError,
  type ContentVersion,
  type RemoteAnswer,
  type RemoteObject,
} from './remote-input.js';
import request from 'undici/lib/api/api-request.js';
import { isServiceFailure } from '../../platform/errors/service-errors.js';
import { parseRetryAfter } from '../../client/rate/rate-headers.js';
import { describeConnection, isHandshakeFailure } from '../../client/http/transport-error.js';
import { ConfigurationError, InputError } from '../../platform/errors/errors.js';
import { systemErrorCode } from '../../platform/text/system-errors.js';

const connectTimeoutMs = 10_000;

/**
 * The rows of a list on a web server, of any format, repeatable. A user and password in the address are sent
 * to its server only, and never printed, like its query.
 *
 * @throws ConfigurationError `invalid_option` for an address that is not https
 *
 * @example
 * ```ts
 * const source = httpSource('https://lists.example.com/contacts.csv', { delimiter: ';' });
 * console.log(source.name); // https://lists.example.com/contacts.csv
 * ```
 */
export function httpSource(
  address: string | URL,
  options: FileOptions & RemoteOptions = {},
): Source {
  checkValue('address', address, url);
  checkOptions(options, { ...fileShape, ...remoteShape });
  const web = parseWebAddress(String(address));
  const object = httpObject(web, dispatcherFor(web.url));
  return inputSource(() => remoteInput(object, options), web.url.pathname, options);
}

const dispatchers = new Map<boolean, Dispatcher>();

/** Unused connections do not keep the process alive: they are shared and never closed. */
function dispatcherFor({ hostname }: URL): Dispatcher {
  const isLoopback = isLoopbackHost(hostname);
  const known = dispatchers.get(isLoopback);
  if (known) return known;
  const { dispatcher } = createDispatcher({ connectTimeoutMs, isLoopback });
  dispatchers.set(isLoopback, dispatcher);
  return dispatcher;
}

interface WebAddress {
  readonly url: URL;
  /** Without user, password and query, which may be a signature. */
  readonly name: string;
  /** Value of `Authorization`, from the user and the password in the address. */
  readonly authorization: string | undefined;
}

function parseWebAddress(text: string): WebAddress {
  // The text is not repeated: it may contain a password.
  if (!URL.canParse(text))
    throw new ConfigurationError('the address of the input is not a URL', {
      fault: 'other_format',
    });
  const url = new URL(text);
  const name = `${url.origin}${url.pathname}`;
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname))) {
    throw new ConfigurationError(
      `${name} is not read: a list comes by https://, by http:// only from this machine`,
      { fault: 'unsupported' },
    );
  }
  const user = url.username === '' && url.password === '' ? undefined : userOf(url);
  url.username = '';
  url.password = '';
  url.hash = '';
  return {
    url,
    name,
    authorization: user === undefined ? undefined : `Basic ${Buffer.from(user).toString('base64')}`,
  };
}

function userOf({ username, password }: URL): string {
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    throw new ConfigurationError('the user or the password in the address is not encoded rightly', {
      fault: 'encoding',
    });
  }
}

const mostRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Longest silence of the server; waits on our side do not count. */
const silenceMs = 30_000;

function httpObject(address: WebAddress, dispatcher: Dispatcher): RemoteObject {
  const { name } = address;
  return {
    name,
    async request({ from, version }, signal) {
      let { url } = address;
      let status: number | undefined;
      for (let hops = 0; hops <= mostRedirects; hops += 1) {
        const isOrigin = url.origin === address.url.origin;
        const answer = await request
          .call(dispatcher, {
            origin: url.origin,
            path: `${url.pathname}${url.search}`,
            method: 'GET',
            signal,
            headersTimeout: silenceMs,
            bodyTimeout: silenceMs,
            headers: {
              'user-agent': 'sluice',
              'accept-encoding': 'identity',
              // Credentials stay with their own server.
              ...(address.authorization !== undefined &&
                isOrigin && { authorization: address.authorization }),
              ...(from > 0 && { range: `bytes=${from}-` }),
              ...(from > 0 && version && { 'if-range': version.text }),
            },
          })
          .catch((error: unknown) => refuseConnection(name, error));
        // A reader of the body gets its end; an unread one is dropped.
        answer.body.on('error', () => undefined);
        if (!redirects.has(answer.statusCode)) return toAnswer(name, answer);
        answer.body.destroy();
        status = answer.statusCode;
        url = nextUrl(name, url, answer);
      }
      throw unreadable(name, `the server redirects more than ${mostRedirects} times`, {
        status,
        fault: 'repeated',
      });
    },
  };
}

function toAnswer(name: string, answer: Dispatcher.ResponseData): RemoteAnswer {
  const { statusCode: status, body } = answer;
  const isPart = status === 206;
  if (status !== 200 && !isPart) {
    body.destroy();
    throw refusal(name, answer);
  }
  const type = headerOf(answer, 'content-type') ?? '';
  if (/^(?:text\/html|application\/xhtml)/i.test(type)) {
    body.destroy();
    throw unreadable(name, 'the server answers with a web page (a login page?), not with a list', {
      status,
      fault: 'other_format',
    });
  }
  const part = isPart ? parseContentRange(headerOf(answer, 'content-range')) : undefined;
  const length = headerOf(answer, 'content-length');
  return {
    version: versionOf(answer),
    from: isPart ? (part?.from ?? Infinity) : 0,
    size: isPart
      ? part?.size
      : length !== undefined && /^\d+$/.test(length)
        ? Number(length)
        : undefined,
    body,
  };
}

function versionOf(answer: Dispatcher.ResponseData): ContentVersion | undefined {
  const etag = headerOf(answer, 'etag');
  if (etag !== undefined && etag !== '') {
    // Proxies make strong tags weak, with the same meaning.
    return { text: etag.replace(/^W\//, ''), isStrong: etag.startsWith('"') };
  }
  const modified = headerOf(answer, 'last-modified');
  // Two changes within one second have the same time.
  return modified === undefined ? undefined : { text: modified, isStrong: false };
}

function refusal(name: string, answer: Dispatcher.ResponseData): Error {
  const { statusCode: status } = answer;
  // An object that became shorter has other content.
  if (status === 416) return changedError(name);
  if (status === 429 || isServiceFailure(status)) {
    const retryAfterMs = parseRetryAfter(headerOf(answer, 'retry-after'), {
      date: headerOf(answer, 'date'),
      wallNowMs: Date.now(),
    });
    return new TransientError(`the server answers ${status}`, { status, retryAfterMs });
  }
  if (status === 404 || status === 410)
    return unreadable(name, 'list not found', { status, fault: 'missing' });
  if (status === 401 || status === 403) {
    return unreadable(name, `the server wants other credentials, or none are enough (${status})`, {
      status,
      fault: 'right',
    });
  }
  return unreadable(name, `the server answers ${status}`, { status });
}

function nextUrl(name: string, url: URL, answer: Dispatcher.ResponseData): URL {
  const { statusCode: status } = answer;
  const location = headerOf(answer, 'location');
  if (location === undefined || !URL.canParse(location, url.href)) {
    throw unreadable(name, 'the server redirects to no address', { status, fault: 'missing' });
  }
  const next = new URL(location, url);
  const isAsSafe =
    next.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(next.hostname));
  if (isAsSafe && next.protocol.startsWith('http')) {
    next.username = '';
    next.password = '';
    return next;
  }
  throw unreadable(name, 'the server redirects to an address that is not https://', {
    status,
    fault: 'unsupported',
  });
}

/** Untrusted certificates and unknown hosts do not pass. */
function refuseConnection(name: string, error: unknown): never {
  const code = systemErrorCode(error) ?? '';
  const why =
    words.get(code) ?? describeConnection(error) ?? (code === '' ? 'no connection' : code);
  if (isHandshakeFailure(error)) throw unreadable(name, why);
  if (code === 'ENOTFOUND') throw unreadable(name, why, { fault: 'missing' });
  throw new TransientError(why);
}

/** undici's texts beside the system's codes. */
const words = new Map([
  ['UND_ERR_SOCKET', 'the connection was closed'],
  ['UND_ERR_HEADERS_TIMEOUT', `no answer within ${silenceMs / 1000} s`],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection in time'],
]);

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function unreadable(
  name: string,
  why: string,
  named: Partial<Pick<InputError, 'status' | 'fault'>> = {},
): InputError {
  return new InputError(`cannot read ${name}: ${why}`, { code: 'input_unreadable', ...named });
}
