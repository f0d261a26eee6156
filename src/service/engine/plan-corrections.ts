import type { PlannedNumber } from './phone-plan.js';

/**
 * Whether a number that the metadata takes for valid lies where the national plan has nothing open:
 *
 * - North America: N11 are service codes, never central office codes of geographic numbers (toll-free
 *   numbers do use them);
 * - South Africa: mobile numbers have nine digits; the metadata takes shorter ones.
 */
export function isClosedRange({ e164, kind }: PlannedNumber): boolean {
  if (e164.startsWith('+1')) return kind === 'fixed_line_or_mobile' && /^\+1\d{3}\d11/.test(e164);
  return e164.startsWith('+278') && kind === 'mobile' && e164.length !== '+27821234567'.length;
}
