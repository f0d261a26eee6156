import { isOfInternet, parseMailbox, readDomain, remember } from './email-syntax.js';
import type { EmailVerdict } from './engine.js';
import { isTestDomain, judgeTestAddress } from './test-addresses.js';
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';
import freeDomainsText from './free-domains.txt';
import moreFreeDomainsText from './more-free-domains.txt';
import roleNamesText from './role-names.txt';

const syntaxError: EmailVerdict = {
  valid: false,
  wrong: true,
  unknown: false,
  quality: 'bad',
  result: 'invalid',
  is_syntax_error: true,
  is_free: false,
  is_role: false,
  is_disposable: false,
  is_catch_all: false,
};

const reserved = 8;
const free = 4;
const role = 2;
const disposable = 1;

/** One verdict for each combination of offline facts. */
const verdicts: readonly EmailVerdict[] = Array.from({ length: 16 }, (_, known) => ({
  valid: false,
  // Only its server knows whether a mailbox exists: possible ones are unknown.
  wrong: has(known, reserved),
  unknown: !has(known, reserved),
  // A disposable address that accepts mail today is worth little tomorrow: a risk.
  quality: has(known, reserved) ? 'bad' : has(known, disposable) ? 'risky' : 'unknown',
  result: has(known, reserved) ? 'invalid' : 'unknown',
  is_syntax_error: false,
  is_free: has(known, free),
  is_role: has(known, role),
  is_disposable: has(known, disposable),
  // Only a server can know; the field has no value for "unknown".
  is_catch_all: false,
}));

function has(known: number, fact: number): boolean {
  return (known & fact) !== 0;
}

/**
 * The offline verdict on an email address: syntax, names that cannot have mail, free providers, role names
 * and disposable services. Everything else is unknown.
 */
export function judgeEmail(address: string): EmailVerdict {
  const mailbox = parseMailbox(address);
  if (mailbox === undefined || !isOfInternet(mailbox.domain)) return syntaxError;
  const { local, domain } = mailbox;
  if (isTestDomain(domain)) return judgeTestAddress(local);
  return verdictOn(factsOf(domain), isRoleName(local));
}

export function verdictOn(domainFacts: number, hasRoleName: boolean): EmailVerdict {
  return verdicts[domainFacts | (hasRoleName ? role : 0)] ?? syntaxError;
}

/** Offline facts about a domain in an address; `undefined` when it is invalid, or when the local part decides. */
export function domainFacts(text: string): number | undefined {
  const domain = readDomain(text);
  const isJudged = domain !== undefined && isOfInternet(domain) && !isTestDomain(domain);
  return isJudged ? factsOf(domain) : undefined;
}

const factsOf = remember(
  (domain) =>
    (cannotHaveMail(domain) ? reserved : 0) |
    (isFreeDomain(domain) ? free : 0) |
    (isDisposableDomain(domain) ? disposable : 0),
);

/** The words of a data file, which the bundler and the tests load as text: lines with `#` are comments. */
export function parseWordList(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  return lines.join(' ').trim().split(/\s+/);
}

let freeDomains: ReadonlySet<string> | undefined;

/** Whether a domain (ASCII, lower case) has personal mailboxes, free or with internet access, by a list. */
export function isFreeDomain(domain: string): boolean {
  freeDomains ??= new Set(parseWordList(`${moreFreeDomainsText}\n${freeDomainsText}`));
  return freeDomains.has(domain);
}

/** Disposable services missing in the package's list. */
const moreDisposable = ['burnermail.io', 'spamgourmet.com', 'spamgourmet.net', 'spamgourmet.org'];

let disposableDomains: ReadonlySet<string> | undefined;

/**
 * Whether a domain (ASCII, lower case) or a parent belongs to a disposable mail service, by the community's
 * list in `disposable-email-domains-js`.
 */
function isDisposableDomain(domain: string): boolean {
  disposableDomains ??= withMore(disposableEmailBlocklistSet());
  let name = domain;
  for (;;) {
    if (disposableDomains.has(name)) return true;
    const firstDot = name.indexOf('.');
    if (firstDot === -1) return false;
    name = name.slice(firstDot + 1);
  }
}

/** @param domains modified in place: a copy would take as long as making it */
function withMore(domains: Set<string>): ReadonlySet<string> {
  for (const domain of moreDisposable) domains.add(domain);
  return domains;
}

/**
 * Names reserved for other purposes than mail: RFC 2606 and RFC 6761 (example, invalid, localhost, test), RFC
 * 6762 (local), RFC 7686 (onion), RFC 8375 (home.arpa), RFC 9476 (alt), and ICANN's resolution of 2024
 * (internal).
 */
const reservedNames: ReadonlySet<string> = new Set([
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

/** Whether a domain (ASCII, lower case) surely has no mail: reserved, or a top-level label of digits (RFC 3696 2). */
function cannotHaveMail(domain: string): boolean {
  const lastDot = domain.lastIndexOf('.');
  const topLevel = domain.slice(lastDot + 1);
  if (reservedNames.has(topLevel) || /^\d+$/.test(topLevel)) return true;
  const secondDot = domain.lastIndexOf('.', lastDot - 1);
  return reservedNames.has(domain.slice(secondDot + 1));
}

/** Local parts of functions, not persons, from role-names.txt. */
const roleNames: ReadonlySet<string> = new Set(parseWordList(roleNamesText));

/** Whether a whole local part is a function's (`sales`, `no-reply`). Text after a plus is a tag (`info+fair`). */
export function isRoleName(tagged: string): boolean {
  const plus = tagged.indexOf('+');
  const local = plus > 0 ? tagged.slice(0, plus) : tagged;
  // No function's name ends with a digit, unlike those of many people.
  const last = local.charCodeAt(local.length - 1);
  if (last >= 0x30 && last <= 0x39) return false;
  const name = local.toLowerCase();
  return roleNames.has(name) || roleNames.has(name.replaceAll(/[._-]/g, ''));
}

const hashBits = 16;

function addLetter(hash: number, letter: number): number {
  return Math.imul(hash ^ (letter & 0x1f), 0x9e3779b1);
}

/** By the hash of their letters: where a function's name may be. */
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

/** Kinds of bytes in a name: functions have letters and separators. */
const kinds = new Uint8Array(256);
for (const byte of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')) {
  kinds[byte] = letter;
}
for (const byte of Buffer.from('._-')) kinds[byte] = separator;

/** Whether {@link isRoleName} may be true for an ASCII name; passes one in a hundred others. */
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
