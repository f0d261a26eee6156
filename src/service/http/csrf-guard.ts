import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { HttpProblem } from './http-problem.js';
import { isFromThisMachine, isLoopback } from './authenticate.js';
import { optionName } from '../../platform/text/option-name.js';

/** Why a request was refused, without its content. */
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
