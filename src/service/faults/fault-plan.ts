import * as z from 'zod';
import { checkConfig, readJsonText } from '../config-json.js';
import { fault } from './fault.js';

const what = 'the fault plan';

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
  const plan = readJsonText(json, what);
  checkFaultPlan(plan);
  return plan as FaultPlan;
}

/** @throws ConfigurationError `invalid_option`, which names the place */
export function checkFaultPlan(raw: unknown): CheckedFaultPlan {
  return checkConfig(raw, faultPlan, what);
}
