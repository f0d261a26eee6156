import type { EmailVerdict, VerificationEngine } from './engine.js';
import { judgeEmail } from './judge-email.js';
import { judgePhone } from './judge-phone.js';
import { judgeEmailAt } from './plain-email.js';

/** Verdicts from what this machine knows: no network is asked, and what only it could tell is unknown. */
export const offlineEngine: VerificationEngine = {
  verifyEmails: (addresses) => addresses.map((address) => judgeEmail(address)),
  verifyPhones: (addresses, country) => addresses.map((address) => judgePhone(address, country)),
};

/** Says what an engine's `verifyEmails` says of the address that stands at a place, in UTF-8. */
export type JudgeEmailAt = (bytes: Buffer, begin: number, end: number) => EmailVerdict;

/** How an engine judges emails without making texts of them; `undefined` when it wants texts. */
export function judgeAtOf(engine: VerificationEngine): JudgeEmailAt | undefined {
  return engine === offlineEngine ? judgeEmailAt : undefined;
}
