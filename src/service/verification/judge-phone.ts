import type { CountryCode } from '../../contract/countries.js';
import type { PhoneVerdict } from './engine.js';
import type { PhoneKind, PlannedNumber } from './phone-plan.js';
import { readPhone } from './read-phone.js';
import { judgeTestNumber } from './test-numbers.js';

/** Word for a type or a live status that is not known. */
const unknown = 'unknown';

const wrong: PhoneVerdict = {
  valid: false,
  wrong: true,
  unknown: false,
  type: unknown,
  status: unknown,
  is_syntax_error: false,
  is_ported: false,
  current_network_mcc: null,
  current_network_mnc: null,
  operator: null,
};

const syntaxError: PhoneVerdict = { ...wrong, is_syntax_error: true };

const valid = new Map<PhoneKind | undefined, PhoneVerdict>();

/**
 * Says what the numbering plans know of a phone number. `valid` means that the plan has its range open
 * and knows its length; whether somebody answers, who carries it and whether it was ported only a
 * network lookup could tell: `status` is `unknown`, `is_ported` false, network and operator null.
 */
export function judgePhone(phone: string, country: CountryCode): PhoneVerdict {
  const asked = judgeTestNumber(phone);
  if (asked) return asked;
  const number = readPhone(phone, country);
  return number === undefined ? syntaxError : verdictOnNumber(number);
}

/** The verdict on a number that a plan could hold. */
export function verdictOnNumber(number: PlannedNumber): PhoneVerdict {
  if (!number.valid) return wrong;
  let verdict = valid.get(number.kind);
  if (verdict === undefined) {
    verdict = { ...wrong, valid: true, wrong: false, type: number.kind ?? unknown };
    valid.set(number.kind, verdict);
  }
  return verdict;
}
