import type { EmailVerdict } from '../service/verification/engine.js';
import type { MailOutcome } from './schedule/mail-task.js';

/** What each outcome says of an address. The documentation shows it, and a test holds the two together. */
export const outcomeVerdicts: Readonly<
  Record<
    MailOutcome,
    Pick<EmailVerdict, 'valid' | 'wrong' | 'unknown' | 'quality' | 'result' | 'is_catch_all'>
  >
> = {
  accepted: said('valid', 'good', 'ok'),
  full: said('valid', 'risky', 'ok'),
  no_mailbox: said('wrong', 'bad', 'invalid'),
  // The contract has no word of its own for it.
  disabled: said('wrong', 'bad', 'invalid'),
  catch_all: { ...said('unknown', 'risky', 'unknown'), is_catch_all: true },
  not_told: said('unknown', 'unknown', 'unknown'),
  failed: said('unknown', 'unknown', 'error'),
};

function said(
  bucket: 'valid' | 'wrong' | 'unknown',
  quality: EmailVerdict['quality'],
  result: EmailVerdict['result'],
) {
  return {
    valid: bucket === 'valid',
    wrong: bucket === 'wrong',
    unknown: bucket === 'unknown',
    quality,
    result,
    is_catch_all: false,
  };
}

/** Verdicts by what is known offline and found out: the same must be the same object. */
const made = new Map<EmailVerdict, Map<MailOutcome, EmailVerdict>>();

/** Adds what a server told to what is known offline (free provider, role name, throw-away service). */
export function mailVerdict(offline: EmailVerdict, outcome: MailOutcome): EmailVerdict {
  let verdicts = made.get(offline);
  if (verdicts === undefined) {
    verdicts = new Map();
    made.set(offline, verdicts);
  }
  let verdict = verdicts.get(outcome);
  if (verdict === undefined) {
    const found = outcomeVerdicts[outcome];
    // A throw-away address that takes mail today is worth little tomorrow.
    const quality = offline.is_disposable && !found.wrong ? 'risky' : found.quality;
    verdict = { ...offline, ...found, quality };
    verdicts.set(outcome, verdict);
  }
  return verdict;
}
