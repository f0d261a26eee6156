import type { CountryCode } from '../contract/countries.js';
import type { VerificationType } from '../contract/enums.js';
import { e164 } from './e164.js';
import { emailLine } from './email-line.js';
import { phoneDigits } from './phone-digits.js';
import { phoneLine } from './phone-line.js';
import { trimCell } from './trim-cell.js';

/**
 * The lookup keys that a key of an export may stand for, the likeliest first; none when it cannot be a
 * line. Phones written in digits alone may be national numbers or numbers that lost their `+`: when
 * both of two keys are addresses of the batch, the export does not say which one is meant.
 */
export function exportKeyCandidates(
  type: VerificationType,
  exportedKey: string,
  country: CountryCode,
): readonly string[] {
  const address = type === 'email' ? emailLine(exportedKey) : phoneLine(exportedKey, country);
  if ('reason' in address) return [];
  const digits = type === 'email' ? undefined : phoneDigits(trimCell(exportedKey));
  if (digits === undefined || digits.startsWith('+')) return [address.key];
  const international = e164(`+${digits}`, country);
  return international === undefined || international === address.key
    ? [address.key]
    : [address.key, international];
}
