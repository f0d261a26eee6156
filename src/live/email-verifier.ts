import type { EmailVerdict, LiveVerification } from '../service/verification/engine.js';
import { judgeEmail } from '../service/verification/judge-email.js';
import { isTestDomain } from '../service/verification/test-addresses.js';
import { mailVerdict } from './mail-verdict.js';
import { createLiveWork } from './schedule/live-work.js';
import type { MailProbe } from './schedule/mail-probe.js';
import type { MailOutcome } from './schedule/mail-task.js';
import { smtpPathOf, type SmtpPath } from './smtp/smtp-path.js';
import { orAborted } from '../platform/waiting/or-aborted.js';

/** Judges email addresses: what is known offline without asking, all others by their exchangers. */
export class MailDesk {
  readonly #probe: MailProbe;

  constructor(probe: MailProbe) {
    this.#probe = probe;
  }

  /** Judges one while somebody waits. @throws the signal's reason */
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

  /** Judges the addresses of a batch. */
  live(signal: AbortSignal): LiveVerification {
    const work = createLiveWork(signal);
    const probe = this.#probe;
    probe.watchers.add(work.stir);
    return {
      get isFull() {
        return probe.isFull;
      },
      offer: (address, report) => {
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
          signal,
          onOutcome: (outcome) => work.report(report, mailVerdict(offline, outcome)),
          onError: (error) => work.fail(error),
          tries: 0,
          delays: 0,
        });
        return true;
      },
      moved: async () => work.moved(),
      end() {
        probe.watchers.delete(work.stir);
        work.end();
      },
    };
  }

  close(): void {
    this.#probe.close();
  }
}

/** What is wrong by its form or its domain, and what only asks for a verdict, is nobody's to answer. */
function pathToAsk(address: string, offline: EmailVerdict): SmtpPath | undefined {
  if (offline.wrong) return undefined;
  const path = smtpPathOf(address);
  return path !== undefined && isTestDomain(path.domain) ? undefined : path;
}
