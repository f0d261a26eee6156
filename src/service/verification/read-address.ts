import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { isOfInternet, parseMailbox, isAscii } from './email-syntax.js';
import { normalPhone, judgeTestNumber } from './judge-phone.js';

/** A line of a batch, read by the rules of its type. */
export interface AddressReading {
  /** Two lines are duplicates when their keys are equal. */
  readonly key: string;
  /** Whether the line has the form of an address; whether it exists is for the engine to say. */
  readonly wellFormed: boolean;
  /** The form that normalization gives it; `undefined` when it is not well-formed. */
  readonly normalized: string | undefined;
}

/**
 * Reads a trimmed line. Emails are equal without case, phones by their E.164 form, and what is no
 * possible number by its digits when it is made of digits and separators, else by its text.
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
  // The local part belongs to its server, case included (RFC 5321 2.4); a domain has no case.
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
