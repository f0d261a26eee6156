import type { CountryCode } from '../contract/countries.js';
import {
  familyOf,
  planOf,
  unsure,
  type NumberingPlan,
  type PlanFamily,
  type Unsure,
} from './numbering-plan.js';

/** Shorter texts have rules of their own in the library. */
const minLength = 5;

const plans = new Map<CountryCode, NumberingPlan>();

/**
 * What libphonenumber-js makes of digits, by its own metadata and many times faster, wherever no
 * special rule of a numbering plan comes in; `unsure` everywhere else.
 *
 * @param digits ASCII digits, with or without a `+` in front
 * @returns the E.164 form, or `undefined` when the digits are no possible number
 */
export function plainE164(digits: string, country: CountryCode): string | undefined | Unsure {
  if (digits.length < minLength) return unsure;
  if (digits.startsWith('+')) return international(digits.slice(1));
  let plan = plans.get(country);
  if (plan === undefined) {
    plan = planOf(country);
    if (plan === undefined) return unsure;
    plans.set(country, plan);
  }
  const abroad = plan.withoutInternationalPrefix(digits);
  return abroad === undefined ? national(digits, plan) : international(abroad);
}

/** Reads digits that begin with a calling code. */
function international(digits: string): string | undefined | Unsure {
  const family = familyOf(digits);
  if (family === undefined) return unsure;
  const number = family.main.withoutPrefix(digits.slice(family.callingCode.length));
  return number === unsure ? unsure : whole(number, family);
}

function national(digits: string, plan: NumberingPlan): string | undefined | Unsure {
  const { family } = plan;
  const number = plan.withoutPrefix(digits);
  if (number === unsure) return unsure;
  if (digits.startsWith(family.callingCode)) {
    // The calling code without its `+`: taken for one where only so the digits make a number.
    const shorter = plan.withoutPrefix(digits.slice(family.callingCode.length));
    if (shorter === unsure) return unsure;
    const isInternational =
      (!plan.matches(number) && plan.matches(shorter)) ||
      plan.possibleLengths.areBelow(number.length);
    if (isInternational) return international(digits);
  }
  return whole(number, family);
}

/** The E.164 form of a national number that is read again as itself. */
function whole(number: string, family: PlanFamily): string | undefined | Unsure {
  const isPossible = family.isPossible(number);
  if (isPossible === unsure) return unsure;
  if (!isPossible) return undefined;
  if (family.main.withoutPrefix(number) !== number) return unsure;
  return `+${family.callingCode}${number}`;
}
