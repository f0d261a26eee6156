import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';
import freeDomainsText from './free-domains.txt';
import moreFreeDomainsText from './more-free-domains.txt';

/** The words of a data file, which the bundler and the tests read as text: a line with `#` is a comment. */
export function parseWordList(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  return lines.join(' ').trim().split(/\s+/);
}

let freeDomains: ReadonlySet<string> | undefined;

/**
 * Whether a domain (ASCII, lower case) is one where people keep personal mailboxes, free of charge or with
 * their internet access: by a list that is kept.
 */
export function isFreeDomain(domain: string): boolean {
  freeDomains ??= new Set(parseWordList(`${moreFreeDomainsText}\n${freeDomainsText}`));
  return freeDomains.has(domain);
}

/** Throw-away services that the package's list lacks. */
const moreDisposable = ['burnermail.io', 'spamgourmet.com', 'spamgourmet.net', 'spamgourmet.org'];

let disposableDomains: ReadonlySet<string> | undefined;

/**
 * Whether a domain (ASCII, lower case) or one above it belongs to a throw-away mail service, by the
 * community's list that the package `disposable-email-domains-js` carries.
 */
export function isDisposableDomain(domain: string): boolean {
  disposableDomains ??= withMore(disposableEmailBlocklistSet());
  let name = domain;
  for (;;) {
    if (disposableDomains.has(name)) return true;
    const firstDot = name.indexOf('.');
    if (firstDot === -1) return false;
    name = name.slice(firstDot + 1);
  }
}

/** @param domains a set of our own: a copy would take as long as to make it */
function withMore(domains: Set<string>): ReadonlySet<string> {
  for (const domain of moreDisposable) domains.add(domain);
  return domains;
}

/**
 * Names that are set aside for other ends than mail: RFC 2606 and RFC 6761 (example, invalid,
 * localhost, test), RFC 6762 (local), RFC 7686 (onion), RFC 8375 (home.arpa), RFC 9476 (alt), and
 * ICANN's resolution of 2024 (internal).
 */
const reserved: ReadonlySet<string> = new Set([
  'alt',
  'example',
  'example.com',
  'example.net',
  'example.org',
  'home.arpa',
  'internal',
  'invalid',
  'local',
  'localhost',
  'onion',
  'test',
]);

/**
 * Whether no mail can reach a domain (ASCII, lower case), as far as that can be known without asking:
 * reserved names, and top-level labels of digits alone (RFC 3696, section 2).
 */
export function cannotHaveMail(domain: string): boolean {
  const lastDot = domain.lastIndexOf('.');
  const topLevel = domain.slice(lastDot + 1);
  if (reserved.has(topLevel) || /^\d+$/.test(topLevel)) return true;
  const secondDot = domain.lastIndexOf('.', lastDot - 1);
  return reserved.has(domain.slice(secondDot + 1));
}
