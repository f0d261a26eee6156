import { orAborted } from '../platform/waiting/promises.js';
import {
  type EmailVerdict,
  type LiveVerification,
  createLiveWork,
} from '../service/verification/engine.js';
import { judgeEmail } from '../service/verification/judge-email.js';
import { isTestDomain } from '../service/verification/test-addresses.js';
import type { MailProbe } from './schedule/mail-probe.js';
import { type MailOutcome, type SmtpPath, smtpPathOf } from './smtp/questions.js';

/** The verdict of each outcome. The documentation shows it, and a test compares the two. */
export const outcomeVerdicts: Readonly<Record<MailOutcome, ReturnType<typeof verdict>>> = {
  accepted: verdict('valid', 'good', 'ok'),
  full: verdict('valid', 'risky', 'ok'),
  no_mailbox: verdict('wrong', 'bad', 'invalid'),
  // The contract has no value of its own for it.
  disabled: verdict('wrong', 'bad', 'invalid'),
  catch_all: { ...verdict('unknown', 'risky', 'unknown'), is_catch_all: true },
  not_told: verdict('unknown', 'unknown', 'unknown'),
  failed: verdict('unknown', 'unknown', 'error'),
};

function verdict(
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

/** Verdicts by offline verdict and outcome: equal ones must be the same object. */
const made = new Map<EmailVerdict, Map<MailOutcome, EmailVerdict>>();

/** Combines a server's answer with the offline verdict (free provider, role name, disposable service). */
export function mailVerdict(offline: EmailVerdict, outcome: MailOutcome): EmailVerdict {
  let verdicts = made.get(offline);
  if (verdicts === undefined) {
    verdicts = new Map();
    made.set(offline, verdicts);
  }
  let verdict = verdicts.get(outcome);
  if (verdict === undefined) {
    const found = outcomeVerdicts[outcome];
    // A disposable address that accepts mail today is worth little tomorrow.
    const quality = offline.is_disposable && !found.wrong ? 'risky' : found.quality;
    verdict = { ...offline, ...found, quality };
    verdicts.set(outcome, verdict);
  }
  return verdict;
}

/** Verifies email addresses: offline verdicts without a query, all others by their exchangers. */
export class EmailVerifier {
  readonly #probe: MailProbe;

  constructor(probe: MailProbe) {
    this.#probe = probe;
  }

  /** Verifies one address while somebody waits. */
  async judgeNow(address: string, signal: AbortSignal): Promise<EmailVerdict> {
    const offline = judgeEmail(address);
    const path = pathToAsk(address, offline);
    if (path === undefined) return offline;
    signal.throwIfAborted();
    const asked = new Promise<MailOutcome>((onOutcome, onError) => {
      this.#probe.add({
        path,
        isUrgent: true,
        signal,
        onOutcome,
        onError,
        tries: 0,
        delays: 0,
      });
    });
    const outcome = await orAborted(asked, signal);
    return mailVerdict(offline, outcome);
  }

  live(signal: AbortSignal): LiveVerification {
    const probe = this.#probe;
    const work = createLiveWork(signal, probe.watchers);
    return {
      get isFull() {
        return probe.isFull;
      },
      offer: (address, report, putOff) => {
        const offline = judgeEmail(address);
        const path = pathToAsk(address, offline);
        if (path === undefined) {
          work.report(report, offline);
          return true;
        }
        if (!probe.hasRoomFor(path.domain)) return false;
        probe.add({
          path,
          isUrgent: false,
          signal: work.signal,
          onOutcome: (outcome) => work.report(report, mailVerdict(offline, outcome)),
          onError: (error) => work.fail(error),
          onDelayed: (delays) => putOff && work.report(putOff.report, delays),
          tries: 0,
          delays: putOff?.times ?? 0,
        });
        return true;
      },
      moved: work.moved,
      end: work.end,
    };
  }

  close(): void {
    this.#probe.close();
  }
}

/** Malformed addresses, dead domains and test addresses need no query. */
function pathToAsk(address: string, offline: EmailVerdict): SmtpPath | undefined {
  if (offline.wrong) return undefined;
  const path = smtpPathOf(address);
  return path !== undefined && isTestDomain(path.domain) ? undefined : path;
}
