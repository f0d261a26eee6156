import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

/** Throw-away services that the list lacks. */
const more = ['burnermail.io', 'spamgourmet.com', 'spamgourmet.net', 'spamgourmet.org'];

let known: ReadonlySet<string> | undefined;

/**
 * Whether a domain (ASCII, lower case) or one above it belongs to a throw-away mail service, by the
 * community's list that the package `disposable-email-domains-js` carries.
 */
export function isDisposableDomain(domain: string): boolean {
  known ??= withMore(disposableEmailBlocklistSet());
  let name = domain;
  for (;;) {
    if (known.has(name)) return true;
    const firstDot = name.indexOf('.');
    if (firstDot === -1) return false;
    name = name.slice(firstDot + 1);
  }
}

/** @param domains a set of our own: a copy would take as long as to make it */
function withMore(domains: Set<string>): ReadonlySet<string> {
  for (const domain of more) domains.add(domain);
  return domains;
}
