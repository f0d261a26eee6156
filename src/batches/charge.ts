import { emailCost, phoneCost } from '../contract/bodies.js';
import type { VerificationType } from '../contract/enums.js';
import { findBelow } from './find-below.js';

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
