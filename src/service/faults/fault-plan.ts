import * as z from 'zod';
import { ConfigurationError } from '../../errors/family.js';
import { fault } from './fault.js';

const faultPlan = z.strictObject({
  seed: z.int().min(0).max(0xffff_ffff).default(0),
  faults: z.array(fault),
});

/** What is to go wrong, and when, as it is written down; docs/faults.md describes it. */
export type FaultPlan = z.input<typeof faultPlan>;

/** The same, checked, with its defaults. */
export type CheckedFaultPlan = z.output<typeof faultPlan>;

/**
 * Reads a fault plan from JSON.
 *
 * @throws ConfigurationError `invalid_option`, which names the place
 *
 * @example
 * ```ts
 * const fault = '{ "operation": "credits", "requests": [1], "what": { "reset": true } }';
 * const service = await createService({ faults: parseFaultPlan(`{ "faults": [${fault}] }`) });
 * await service.close();
 * ```
 */
export function parseFaultPlan(json: string): FaultPlan {
  let raw: unknown;
  try {
    raw = JSON.parse(json);
  } catch (cause) {
    throw new ConfigurationError('the fault plan is no JSON', { cause });
  }
  checkFaultPlan(raw);
  return raw as FaultPlan;
}

/** @throws ConfigurationError `invalid_option`, which names the place */
export function checkFaultPlan(raw: unknown): CheckedFaultPlan {
  const parsed = faultPlan.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') || 'its top';
  throw new ConfigurationError(`the fault plan is wrong at ${place}: ${issue?.message ?? ''}`);
}
