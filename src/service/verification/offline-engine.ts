import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { isOfInternet, parseMailbox, isAscii } from './email-syntax.js';
import {
  normalPhone,
  judgeTestNumber,
  judgePhone,
  verdictOnNumber,
  readPhone,
} from './judge-phone.js';
import type { Verdict, VerificationEngine } from './engine.js';
import { judgeEmail } from './judge-email.js';

/** A line of a batch, read by the rules of its type. */
interface AddressReading {
  /** Lines with equal keys are duplicates. */
  readonly key: string;
  /** Whether the line is well-formed; the engine decides whether the address exists. */
  readonly wellFormed: boolean;
  /** Its normalised form; `undefined` for a malformed one. */
  readonly normalized: string | undefined;
}

/**
 * Reads a trimmed line. Emails are compared without case, phones by E.164, and other texts by their digits if
 * they consist of digits and separators, else as they are.
 */
export function readAddress(
  type: VerificationType,
  country: CountryCode,
  line: string,
): AddressReading {
  return type === 'email' ? readEmail(line) : readPhoneLine(line, country);
}

function readEmail(line: string): AddressReading {
  const text = isAscii(line) ? line : line.normalize('NFC');
  const mailbox = parseMailbox(text);
  const key = text.toLowerCase();
  if (mailbox === undefined || !isOfInternet(mailbox.domain)) {
    return { key, wellFormed: false, normalized: undefined };
  }
  // The local part's case is significant (RFC 5321 2.4); a domain's is not.
  const { local } = mailbox;
  const normalized = key === text ? text : local + text.slice(local.length).toLowerCase();
  return { key, wellFormed: true, normalized };
}

function readPhoneLine(line: string, country: CountryCode): AddressReading {
  const number = normalPhone(line, country);
  if (number !== undefined) return { key: number, wellFormed: true, normalized: number };
  if (judgeTestNumber(line)) return { key: line, wellFormed: true, normalized: line };
  const text = line.normalize('NFC');
  const digits = text.replaceAll(/[\s().+/\-\u2010-\u2015]/gu, '');
  return {
    key: /^\d+$/.test(digits) ? digits : text,
    wellFormed: false,
    normalized: undefined,
  };
}

/** Offline verdicts: what only a network could know is unknown. */
export const offlineEngine: VerificationEngine = {
  verifyEmails: (addresses) => addresses.map((address) => judgeEmail(address)),
  verifyPhones: (addresses, country) => addresses.map((address) => judgePhone(address, country)),
};

interface JudgedLine {
  readonly key: string;
  readonly wellFormed: boolean;
  readonly verdict: Verdict;
}

/** Reads and judges a line: reading a number does most of the work of judging it. */
export function judgeLine(type: VerificationType, country: CountryCode, line: string): JudgedLine {
  const number = type === 'phone' ? readPhone(line, country) : undefined;
  if (number) return { key: number.e164, wellFormed: true, verdict: verdictOnNumber(number) };
  const verdict = type === 'email' ? judgeEmail(line) : judgePhone(line, country);
  const { key, wellFormed } = readAddress(type, country, line);
  return { key, wellFormed, verdict };
}
