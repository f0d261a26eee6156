import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';
import freeDomainsText from './free-domains.txt';
import moreFreeDomainsText from './more-free-domains.txt';
import roleNamesText from './role-names.txt';

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

/** Local parts that name a function and not a person; role-names.txt has them. */
const roleNames: ReadonlySet<string> = new Set(parseWordList(roleNamesText));

/**
 * Whether a whole local part names a function (`sales`, `no-reply`), not a person or a part of a name. What
 * comes after a plus is a tag of one and the same mailbox (`info+fair`).
 */
export function isRoleName(tagged: string): boolean {
  const plus = tagged.indexOf('+');
  const local = plus > 0 ? tagged.slice(0, plus) : tagged;
  // No name of a function ends with a digit, and those of many people do.
  const last = local.charCodeAt(local.length - 1);
  if (last >= 0x30 && last <= 0x39) return false;
  const name = local.toLowerCase();
  return roleNames.has(name) || roleNames.has(name.replaceAll(/[._-]/g, ''));
}

const hashBits = 16;

function addLetter(hash: number, letter: number): number {
  return Math.imul(hash ^ (letter & 0x1f), 0x9e3779b1);
}

/** By the hash of their letters: where a name of a function may be. */
const mayBe = new Uint8Array(2 ** hashBits);
let longest = 0;
for (const name of roleNames) {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) hash = addLetter(hash, name.charCodeAt(at));
  mayBe[hash >>> (32 - hashBits)] = 1;
  longest = Math.max(longest, name.length);
}

const plus = 0x2b;
const letter = 1;
const separator = 2;

/** What each byte is in a name: those of functions are letters, and what is written between words. */
const kinds = new Uint8Array(256);
for (const byte of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')) {
  kinds[byte] = letter;
}
for (const byte of Buffer.from('._-')) kinds[byte] = separator;

/** Whether {@link isRoleName} can say yes of an ASCII name; of a hundred that it says no of, one is let through. */
export function mayBeRoleName(bytes: Uint8Array, begin: number, end: number): boolean {
  let hash = 0;
  let letters = 0;
  for (let at = begin; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const kind = kinds[byte] ?? 0;
    if (byte === plus && at > begin) break;
    if (kind === 0) return false;
    if (kind === letter) {
      hash = addLetter(hash, byte);
      letters += 1;
    }
  }
  return letters <= longest && mayBe[hash >>> (32 - hashBits)] === 1;
}
