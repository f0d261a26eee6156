import type { CountryCode as PhoneCountry } from 'libphonenumber-js/min';
import { phoneLibrary, phoneMetadata } from './phone-library.js';

/** Says that only the library can tell. */
export const unsure: unique symbol = Symbol('unsure');

export type Unsure = typeof unsure;

const maxCallingCodeDigits = 3;
/** The library takes no longer national number, whatever a plan says. */
const maxNationalDigits = 17;

/** One country's rules for reading digits, compiled once from libphonenumber-js's own metadata. */
export class NumberingPlan {
  /** The plans that share this one's calling code. */
  readonly family: PlanFamily;
  readonly possibleLengths: PossibleLengths;
  readonly #number: RegExp;
  readonly #nationalPrefix: RegExp | undefined;
  readonly #internationalPrefix: RegExp;

  constructor(country: PhoneCountry, family: PlanFamily) {
    const rules = rulesOf(country);
    this.family = family;
    this.possibleLengths = new PossibleLengths(rules.possibleLengths());
    this.#number = new RegExp(`^(?:${rules.nationalNumberPattern()})$`);
    this.#internationalPrefix = new RegExp(`^(?:${rules.IDDPrefix()})`);
    const nationalPrefix = rules.nationalPrefixForParsing();
    this.#nationalPrefix = nationalPrefix ? new RegExp(`^(?:${nationalPrefix})`) : undefined;
  }

  /** What follows the prefix of calls abroad (`00`, `011`); `undefined` where the digits have none. */
  withoutInternationalPrefix(digits: string): string | undefined {
    const match = this.#internationalPrefix.exec(digits);
    if (!match) return undefined;
    const rest = digits.slice(match[0].length);
    // No calling code begins with a zero.
    return rest === '' || rest.startsWith('0') ? undefined : rest;
  }

  /** Whether national digits are a number by the plan's pattern, not by their length alone. */
  matches(national: string): boolean {
    return this.#number.test(national);
  }

  /** National digits without the national prefix (the `0` of `030…`) where the library would take it. */
  withoutPrefix(national: string): string | Unsure {
    const match = this.#nationalPrefix?.exec(national);
    if (!match) return national;
    // A captured group is a carrier code or part of a rule that rewrites the number.
    for (let group = 1; group < match.length; group += 1) if (match[group]) return unsure;
    const rest = national.slice(match[0].length);
    if (rest === national || (this.matches(national) && !this.matches(rest))) return national;
    const isWhole = this.family.agree(
      (lengths) => lengths.has(rest.length) || lengths.areBelow(rest.length),
    );
    if (isWhole === unsure) return unsure;
    return isWhole ? rest : national;
  }
}

/** The plans of the countries that share one calling code. */
export class PlanFamily {
  readonly callingCode: string;
  /** The plan that numbers with the calling code in front are read by. */
  readonly main: NumberingPlan;
  readonly #plans: ReadonlyMap<string, NumberingPlan>;
  readonly #lengths: readonly PossibleLengths[];

  constructor(callingCode: string, main: PhoneCountry, others: readonly PhoneCountry[]) {
    this.callingCode = callingCode;
    this.main = new NumberingPlan(main, this);
    const plans = new Map([[main, this.main]]);
    for (const country of others) plans.set(country, new NumberingPlan(country, this));
    this.#plans = plans;
    const distinct = new Map<number, PossibleLengths>();
    for (const { possibleLengths } of plans.values()) {
      distinct.set(possibleLengths.bits, possibleLengths);
    }
    this.#lengths = [...distinct.values()];
  }

  plan(country: PhoneCountry): NumberingPlan | undefined {
    return this.#plans.get(country);
  }

  /** Whether national digits have a possible length. */
  isPossible(national: string): boolean | Unsure {
    return this.agree((lengths) => lengths.has(national.length));
  }

  /**
   * What a test of lengths says for all of the family's countries: which of them a number belongs to
   * is long to tell, and matters only where they differ.
   */
  agree(test: (lengths: PossibleLengths) => boolean): boolean | Unsure {
    let answer: boolean | undefined;
    for (const lengths of this.#lengths) {
      const isTrue = test(lengths);
      if (answer !== undefined && isTrue !== answer) return unsure;
      answer = isTrue;
    }
    return answer ?? unsure;
  }
}

/** How many digits a country's national numbers may have. */
class PossibleLengths {
  /** Bit n stands for n digits. */
  readonly bits: number;

  constructor(lengths: readonly number[]) {
    let bits = 0;
    for (const length of lengths) if (length <= maxNationalDigits) bits |= 1 << length;
    this.bits = bits;
  }

  has(length: number): boolean {
    return length <= maxNationalDigits && (this.bits & (1 << length)) !== 0;
  }

  /** Whether all of them are shorter. */
  areBelow(length: number): boolean {
    return length > maxNationalDigits || this.bits >>> length === 0;
  }
}

const families = new Map<string, PlanFamily>();

/** The family whose calling code begins the digits; `undefined` when no country has such a code. */
export function familyOf(digits: string): PlanFamily | undefined {
  for (let length = 1; length <= maxCallingCodeDigits; length += 1) {
    const callingCode = digits.slice(0, length);
    const known = families.get(callingCode);
    if (known !== undefined) return known;
    const [main, ...others] = phoneMetadata().country_calling_codes[callingCode] ?? [];
    if (main !== undefined) {
      const family = new PlanFamily(callingCode, main, others);
      families.set(callingCode, family);
      return family;
    }
  }
  return undefined;
}

/** The plan of a country; `undefined` when the library knows none (`GS`, `UM`). */
export function planOf(country: string): NumberingPlan | undefined {
  const { getCountryCallingCode, isSupportedCountry } = phoneLibrary();
  if (!isSupportedCountry(country)) return undefined;
  return familyOf(getCountryCallingCode(country))?.plan(country);
}

/** What the library knows of a country; two of these methods are not in its types. */
interface CountryRules {
  nationalNumberPattern(): string;
  nationalPrefixForParsing(): string | undefined;
  IDDPrefix(): string;
  possibleLengths(): readonly number[];
}

function rulesOf(country: PhoneCountry): CountryRules {
  const { Metadata } = phoneLibrary();
  const all = new Metadata();
  all.selectNumberingPlan(country);
  if (!isCountryRules(all.numberingPlan)) {
    throw new TypeError('this version of libphonenumber-js hides its numbering plans');
  }
  return all.numberingPlan;
}

function isCountryRules(plan: object | undefined): plan is CountryRules {
  return (
    plan !== undefined && 'nationalNumberPattern' in plan && 'nationalPrefixForParsing' in plan
  );
}
