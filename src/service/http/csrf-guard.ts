import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { HttpProblem } from './http-problem.js';
import { isFromThisMachine, isLoopback } from './authenticate.js';
import { optionName } from '../../platform/text/option-name.js';

/** Why a request was refused; nothing that was sent is repeated. */
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
 * Refuses what a browser sends for a web page that is not the service's own. Such a page cannot read the
 * answer, but it could make requests that need no key; and one whose name was made to point here (DNS
 * rebinding) could read the answer too.
 *
 * The Host header counts for requests from this machine only. From elsewhere, and behind a proxy, the
 * service has names that it does not know, and gives nothing away without a key. Anyone who has a key is no
 * foreign page.
 *
 * @param host what the service was asked to listen on
 *
 * @param hasKey whether the request carries a key that holds
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
  // A link that a person follows: the page that holds it sees nothing of what it leads to.
  const isFollowed = mode === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return !(isFollowed && (method === 'GET' || method === 'HEAD'));
}

/** Whether an origin is the one that the request was sent to, as the client or its proxy names it. */
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

/** A Host header as a URL has it; `undefined` where it is none. */
function hostOf(protocol: string, host: string): URL | undefined {
  const text = `${protocol}//${host}`;
  if (host === '' || /[/?#@\\\s]/.test(host) || !URL.canParse(text)) return undefined;
  return new URL(text);
}
