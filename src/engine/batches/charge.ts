import { emailCost, phoneCost } from '../../contract/bodies.js';
import type { VerificationType } from '../../contract/enums.js';
import { findBelow } from './find-below.js';
import { findPreparedCounts } from './prepared-counts.js';

/** What the verification of a batch cost, in credits of its type. */
export interface Charge {
  readonly spent: number;
  readonly refunded: number;
  readonly net: number;
}

/** Finds the cost object (spec 2.8) in a status answer. Which answers carry it, and where, is not shown. */
export function findCharge(type: VerificationType, answer: unknown): Charge | undefined {
  return findBelow(answer, type === 'email' ? emailCharge : phoneCharge);
}

function emailCharge(answer: object): Charge | undefined {
  const cost = emailCost.safeParse(answer);
  return cost.success ? charge(cost.data.total_email_cost, cost.data.net_email_cost) : undefined;
}

function phoneCharge(answer: object): Charge | undefined {
  const cost = phoneCost.safeParse(answer);
  return cost.success ? charge(cost.data.total_phone_cost, cost.data.net_phone_cost) : undefined;
}

function charge(spent: number, net: number): Charge {
  return { spent, refunded: spent - net, net };
}

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
