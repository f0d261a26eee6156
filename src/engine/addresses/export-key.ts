import type { CountryCode } from '../../contract/countries.js';
import type { VerificationType } from '../../contract/enums.js';
import { emailLine } from './email.js';
import { barePhone, phoneDigits, possibleNumbers, doubtfulForms } from './phone/phone-readings.js';
import { phoneLine } from './phone/phone-line.js';
import { trimCell } from './address.js';

/**
 * The lookup keys that a key of an export may stand for, the likeliest first; none when it cannot be a
 * line. Phones written in digits alone may be national numbers or numbers that lost their `+`, and a
 * service reads in its own way what was sent as it is written: when two of the keys are addresses of
 * the batch, the export does not say which one is meant.
 */
export function exportKeyCandidates(
  type: VerificationType,
  exportedKey: string,
  country: CountryCode,
): readonly string[] {
  const address = type === 'email' ? emailLine(exportedKey) : phoneLine(exportedKey, country);
  if ('reason' in address) return [];
  if (type === 'email') return [address.key];
  const digits = phoneDigits(barePhone(trimCell(exportedKey)));
  if (digits === undefined) return [address.key];
  const abroad = digits.digits.startsWith('+') ? digits : { digits: `+${digits.digits}` };
  const numbers = new Set(
    address.key.startsWith('+') ? [address.key] : possibleNumbers(digits, country),
  );
  for (const number of possibleNumbers(abroad, country)) numbers.add(number);
  const forms = [...numbers].flatMap((number) => doubtfulForms(number, country));
  return [...new Set([address.key, ...numbers, ...forms.map((form) => `d${form}`)])];
}
