import type { EmailVerdict } from './engine.js';

/** A name below the reserved top level `test` (RFC 2606): no real address can be in it. */
const testDomain = 'sluice.test';

/** Whether a domain, in lower case, is `sluice.test` or below it. */
export function isTestDomain(domain: string): boolean {
  return (
    domain.endsWith(testDomain) && (domain === testDomain || domain.endsWith(`.${testDomain}`))
  );
}

const good: EmailVerdict = {
  valid: true,
  wrong: false,
  unknown: false,
  quality: 'good',
  result: 'ok',
  is_syntax_error: false,
  is_free: false,
  is_role: false,
  is_disposable: false,
  is_catch_all: false,
};

/** The meaning of each word; later words add to earlier ones. */
const words: ReadonlyMap<string, Partial<EmailVerdict>> = new Map<string, Partial<EmailVerdict>>([
  ['good', {}],
  ['bad', { valid: false, wrong: true, quality: 'bad', result: 'invalid' }],
  ['risky', { quality: 'risky' }],
  ['unknown', { valid: false, unknown: true, quality: 'unknown', result: 'unknown' }],
  ['error', { valid: false, unknown: true, quality: 'unknown', result: 'error' }],
  [
    'syntax',
    { valid: false, wrong: true, quality: 'bad', result: 'invalid', is_syntax_error: true },
  ],
  ['free', { is_free: true }],
  ['role', { is_role: true }],
  ['disposable', { quality: 'risky', is_disposable: true }],
  [
    'catch-all',
    { valid: false, unknown: true, quality: 'risky', result: 'unknown', is_catch_all: true },
  ],
]);

/** Verdicts by content: the same words in another order must give the same object. */
const made = new Map<string, EmailVerdict>();

/**
 * Gives an address at `sluice.test`, or below it, the verdict that its local part names, so that pipelines
 * can be tested with every verdict:
 *
 * ```text
 * local part = word *("." word) ["+" anything]
 * word       = ("good" / "bad" / "risky" / "unknown" / "error" / "syntax" /
 *               "free" / "role" / "disposable" / "catch-all" / any other) [digits]
 * ```
 *
 * Words are read from left to right, without case; digits after a word and everything after a plus sign only
 * make addresses distinct; of `bad`, `syntax`, `unknown`, `error` and `catch-all` the first one decides
 * whether the address is wrong or unknown; any other word says nothing, so that `anna17@sluice.test` is good.
 * Examples: `bad@`, `role.free@`, `risky.disposable042@`, `unknown+7@`, `catch-all1.role@`.
 */
export function judgeTestAddress(local: string): EmailVerdict {
  let verdict = good;
  for (const part of local.replace(/\+.*$/s, '').toLowerCase().split('.')) {
    verdict = add(verdict, words.get(withoutDigits(part)) ?? {});
  }
  const given = JSON.stringify(verdict);
  const known = made.get(given);
  if (known) return known;
  made.set(given, verdict);
  return verdict;
}

function add(verdict: EmailVerdict, given: Partial<EmailVerdict>): EmailVerdict {
  if (verdict.valid) return { ...verdict, ...given };
  // Exactly one bucket holds: only flags still add up, and what is wrong is bad.
  return {
    ...verdict,
    quality: verdict.wrong ? verdict.quality : (given.quality ?? verdict.quality),
    is_free: verdict.is_free || given.is_free === true,
    is_role: verdict.is_role || given.is_role === true,
    is_disposable: verdict.is_disposable || given.is_disposable === true,
    is_catch_all: verdict.is_catch_all || given.is_catch_all === true,
  };
}

function withoutDigits(word: string): string {
  let end = word.length;
  while (end > 0 && isDigit(word.charCodeAt(end - 1))) end -= 1;
  return word.slice(0, end);
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
