import type { VerificationEngine } from './engine.js';
import { judgeEmail } from './judge-email.js';
import { judgePhone } from './judge-phone.js';

/** Verdicts from what this machine knows: no network is asked, and what only it could tell is unknown. */
export const offlineEngine: VerificationEngine = {
  verifyEmails: (addresses) => addresses.map((address) => judgeEmail(address)),
  verifyPhones: (addresses, country) => addresses.map((address) => judgePhone(address, country)),
};
