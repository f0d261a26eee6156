import { emailCost, phoneCost } from '../contract/bodies.js';
import type { VerificationType } from '../contract/enums.js';

/** What the verification of a batch cost, in credits of its type. */
export interface Charge {
  readonly spent: number;
  readonly refunded: number;
  readonly net: number;
}

const deepest = 3;

/**
 * Finds the cost object (spec 2.8) in a status answer. Which answers carry it, and where, is not shown:
 * it is looked for at the top and a few levels below, and may be absent.
 */
export function findCharge(type: VerificationType, answer: unknown, depth = 0): Charge | undefined {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return undefined;
  const found = type === 'email' ? emailCharge(answer) : phoneCharge(answer);
  if (found || depth === deepest) return found;
  for (const value of Object.values(answer)) {
    const below = findCharge(type, value, depth + 1);
    if (below) return below;
  }
  return undefined;
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
