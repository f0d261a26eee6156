import { isOfInternet, parseMailbox, readDomain, remember } from './email-syntax.js';
import type { EmailVerdict } from './engine.js';
import { cannotHaveMail, isDisposableDomain, isFreeDomain, isRoleName } from './known-names.js';
import { isTestDomain, judgeTestAddress } from './test-addresses.js';

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
