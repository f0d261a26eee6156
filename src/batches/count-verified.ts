import type { VerificationType } from '../contract/enums.js';
import { findCharge } from './charge.js';
import { findPreparedCounts } from './prepared-counts.js';

/**
 * How many addresses a status answer says were verified: one credit is charged for each, and what was
 * well-formed is verified.
 *
 * @returns `null` where it says neither
 */
export function countVerified(type: VerificationType, answer: unknown): number | null {
  const charged = findCharge(type, answer)?.spent;
  const wellFormed = findPreparedCounts(type, answer)?.valid;
  if (charged === undefined && wellFormed === undefined) return null;
  return Math.max(charged ?? 0, wellFormed ?? 0);
}
