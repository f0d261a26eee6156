import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import type { Verdict, VerificationEngine } from './engine.js';
import { judgeEmail } from './judge-email.js';
import { judgePhone, verdictOnNumber, readPhone } from './judge-phone.js';
import { readAddress, type AddressReading } from './read-address.js';

/** Verdicts from what this machine knows: no network is asked, and what only it could tell is unknown. */
export const offlineEngine: VerificationEngine = {
  verifyEmails: (addresses) => addresses.map((address) => judgeEmail(address)),
  verifyPhones: (addresses, country) => addresses.map((address) => judgePhone(address, country)),
};

/** A line as `readAddress` reads it, and the verdict of the {@link offlineEngine}. */
interface JudgedLine extends Pick<AddressReading, 'key' | 'wellFormed'> {
  readonly verdict: Verdict;
}

/** Reads and judges a line: most of what it takes to judge a number was done when it is read. */
export function judgeLine(type: VerificationType, country: CountryCode, line: string): JudgedLine {
  const number = type === 'phone' ? readPhone(line, country) : undefined;
  if (number) return { key: number.e164, wellFormed: true, verdict: verdictOnNumber(number) };
  const verdict = type === 'email' ? judgeEmail(line) : judgePhone(line, country);
  const { key, wellFormed } = readAddress(type, country, line);
  return { key, wellFormed, verdict };
}
