import {
  countriesOf,
  rulesOf,
  type CountryRules,
  whole,
  startOf,
  literalsOf,
  beginsWithoutZero,
  rewrite,
} from './phone-metadata.js';

const maxCallingCodeDigits = 3;
const zero = 0x30;
/** libphonenumber accepts no longer national number, whatever a plan says. */
const maxNationalDigits = 17;
const minNationalDigits = 2;

/** A country's rules for reading digits, compiled once from libphonenumber-js's metadata. */
export class NumberingPlan {
  readonly family: PlanFamily;
  readonly possibleLengths: PossibleLengths;
  /** Distinguishes this country's numbers among countries that share a calling code. */
  readonly leadingDigits: RegExp | undefined;
  readonly #number: RegExp;
  readonly #types: readonly NumberType[];
  readonly #nationalPrefix: RegExp | undefined;
  /** How a number is composed whose prefix contains a part of it. */
  readonly #transform: string | undefined;
  readonly #internationalPrefix: RegExp | undefined;
  /** Possible beginnings of digits with one of the two prefixes. */
  readonly #nationalStarts: readonly string[];
  readonly #internationalStarts: readonly string[];
  /** Whether a zero in front is the national prefix and nothing else. */
  readonly #zeroIsPrefix: boolean;

  constructor(rules: CountryRules, family: PlanFamily) {
    this.family = family;
    this.possibleLengths = new PossibleLengths(rules.lengths);
    this.leadingDigits = startOf(rules.leadingDigits);
    this.#number = whole(rules.number);
    this.#types = rules.types.map(({ kind, number, lengths }) => ({
      kind,
      number: whole(number),
      lengths: new PossibleLengths(lengths),
    }));
    this.#nationalPrefix = startOf(rules.nationalPrefix);
    this.#transform = rules.transform;
    this.#internationalPrefix = startOf(rules.internationalPrefix);
    this.#nationalStarts = literalsOf(rules.nationalPrefix);
    this.#internationalStarts = literalsOf(rules.internationalPrefix);
    const withZero = this.#nationalStarts.filter((start) => '0'.startsWith(start.charAt(0)));
    const isPrefix = withZero.length === 1 && withZero[0] === '0' && rules.transform === undefined;
    this.#zeroIsPrefix = isPrefix && beginsWithoutZero(rules.number);
  }

  /** The international prefix (`00`, `011`) of the digits, where a calling code may follow it. */
  internationalPrefixOf(digits: string): string | undefined {
    if (!startsWithOne(digits, this.#internationalStarts)) return undefined;
    const prefix = this.#internationalPrefix?.exec(digits)?.[0];
    if (prefix === undefined || prefix.length === digits.length) return undefined;
    // No calling code begins with a zero.
    return digits.charAt(prefix.length) === '0' ? undefined : prefix;
  }

  /** Whether digits surely have neither a prefix nor the calling code. */
  isPlain(digits: Uint8Array, count: number): boolean {
    return (
      digits[0] !== zero &&
      !this.#mayBeInternational(digits, count) &&
      !this.mayHavePrefix(digits, 0, count) &&
      !beginsWith(digits, 0, count, this.family.callingCode)
    );
  }

  /** Whether digits surely consist of a national prefix of one zero and national digits. */
  isPlainBehindZero(digits: Uint8Array, count: number): boolean {
    return (
      this.#zeroIsPrefix &&
      digits[1] !== zero &&
      !this.#mayBeInternational(digits, count) &&
      !this.mayHavePrefix(digits, 1, count)
    );
  }

  /** Whether numbers with ten digits and with one fewer and one more exist side by side. */
  get hasVariedLengths(): boolean {
    return [9, 10, 11].every((length) => this.possibleLengths.has(length));
  }

  mayHavePrefix(digits: Uint8Array, from: number, to: number): boolean {
    return (
      this.#nationalPrefix !== undefined && beginWithOne(digits, from, to, this.#nationalStarts)
    );
  }

  #mayBeInternational(digits: Uint8Array, count: number): boolean {
    return (
      this.#internationalPrefix !== undefined &&
      beginWithOne(digits, 0, count, this.#internationalStarts)
    );
  }

  /** Whether national digits are a number by the plan's pattern, not by their length alone. */
  matches(national: string): boolean {
    return this.#number.test(national);
  }

  /** Whether it is a number of a known type: what libphonenumber calls valid. */
  isValid(national: string): boolean {
    return this.#isOf(national, () => true);
  }

  isFixedOrMobile(national: string): boolean {
    return this.#isOf(national, ({ kind }) => kind !== 'other');
  }

  isMobile(national: string): boolean {
    return this.#isOf(national, ({ kind }) => kind === 'mobile');
  }

  /** National digits without the national prefix (the `0` of `030…`) where libphonenumber would remove it. */
  withoutPrefix(digits: string): string {
    if (!startsWithOne(digits, this.#nationalStarts)) return digits;
    const match = this.#nationalPrefix?.exec(digits);
    if (!match) return digits;
    const isRewritten = this.#transform !== undefined && match.length > 1 && match.at(-1);
    const rest = digits.slice(match[0].length);
    const national = isRewritten ? rewrite(this.#transform ?? '', match) + rest : rest;
    if (national === digits || (this.matches(digits) && !this.matches(national))) return digits;
    const { length } = national;
    const isWhole = this.family.lengthsOf(
      national,
      (lengths) => lengths.has(length) || lengths.areBelow(length),
    );
    return isWhole ? national : digits;
  }

  #isOf(national: string, test: (type: NumberType) => boolean): boolean {
    if (!this.matches(national)) return false;
    const { length } = national;
    return this.#types.some(
      (type) => test(type) && type.lengths.has(length) && type.number.test(national),
    );
  }
}

/** The plans of the countries that share one calling code. */
export class PlanFamily {
  readonly callingCode: string;
  /** The plan by which numbers with the calling code are read. */
  readonly main: NumberingPlan;
  readonly #plans: ReadonlyMap<string, NumberingPlan>;
  readonly #lengths: readonly PossibleLengths[];
  /** Possible numbers of digits in any of the countries, and in all of them: bit n stands for n. */
  readonly #anyLength: number;
  readonly #eachLength: number;

  /** @param countries that share the code, the main one first; or the code itself where it is no country's */
  constructor(callingCode: string, countries: ReadonlyMap<string, CountryRules>) {
    this.callingCode = callingCode;
    this.#plans = new Map(
      Array.from(countries, ([name, rules]) => [name, new NumberingPlan(rules, this)]),
    );
    const [main] = this.#plans.values();
    if (!main) throw new Error(`no numbering plan has the calling code ${callingCode}`);
    this.main = main;
    const distinct = new Map<number, PossibleLengths>();
    for (const { possibleLengths } of this.#plans.values()) {
      distinct.set(possibleLengths.bits, possibleLengths);
    }
    this.#lengths = [...distinct.values()];
    this.#anyLength = this.#lengths.reduce((all, { bits }) => all | bits, 0);
    this.#eachLength = this.#lengths.reduce((all, { bits }) => all & bits, ~0);
  }

  plan(country: string): NumberingPlan | undefined {
    return this.#plans.get(country);
  }

  /**
   * The countries of the calling code: the main one, and the one whose valid number this is.
   *
   * @returns none for a calling code of no country
   */
  countriesOf(national: string | undefined): {
    readonly main: string | undefined;
    readonly exact: string | undefined;
  } {
    const [main = ''] = this.#plans.keys();
    if (main === this.callingCode) return { main: undefined, exact: undefined };
    const plan = national === undefined ? undefined : this.#planOf(national);
    const isExact = national !== undefined && plan?.isValid(national) === true;
    const exact = isExact ? [...this.#plans].find(([, each]) => each === plan)?.[0] : undefined;
    return { main, exact };
  }

  /**
   * The E.164 form of a national number; `undefined` when it is not possible.
   *
   * @param plan by which it was read
   * @param digits from which the plan took it
   */
  possible(national: string, plan: NumberingPlan, digits?: string): string | undefined {
    const { length } = national;
    if (length < minNationalDigits || length > maxNationalDigits) return undefined;
    const isPossible = this.lengthsOf(national, (lengths) => lengths.has(length), plan);
    // Digits that lose a prefix at each reading (+49 0 030…) have no stable form for an export.
    const isRead = plan === this.main && national === digits;
    if (!isPossible || (!isRead && this.main.withoutPrefix(national) !== national)) {
      return undefined;
    }
    return `+${this.callingCode}${national}`;
  }

  /** Whether national digits surely have no prefix, and are as many as numbers of each country may have. */
  isPlain(digits: Uint8Array, from: number, to: number): boolean {
    const length = to - from;
    return (
      length >= minNationalDigits &&
      length <= maxNationalDigits &&
      (this.#eachLength & (1 << length)) !== 0 &&
      !this.main.mayHavePrefix(digits, from, to)
    );
  }

  mayHave(length: number): boolean {
    return length <= maxNationalDigits && (this.#anyLength & (1 << length)) !== 0;
  }

  /** Whether a national number is valid in a country of the family, as libphonenumber says. */
  isValid(national: string): boolean {
    return (this.#planOf(national) ?? this.main).isValid(national);
  }

  isFixedOrMobile(national: string): boolean {
    return (
      this.mayHave(national.length) &&
      (this.#planOf(national) ?? this.main).isFixedOrMobile(national)
    );
  }

  isMobile(national: string): boolean {
    return (this.#planOf(national) ?? this.main).isMobile(national);
  }

  /**
   * Tests the lengths of the country that a number belongs to. Finding that country is slow, and needed only
   * where the answers differ. A number of no country belongs to the main one, and `otherwise`.
   */
  lengthsOf(
    national: string,
    test: (lengths: PossibleLengths) => boolean,
    otherwise: NumberingPlan = this.main,
  ): boolean {
    let isPossible = false;
    let isImpossible = false;
    for (const lengths of this.#lengths) {
      if (test(lengths)) isPossible = true;
      else isImpossible = true;
    }
    if (isPossible !== isImpossible) return isPossible;
    const plan = this.#planOf(national);
    if (plan) return test(plan.possibleLengths);
    return test(this.main.possibleLengths) && test(otherwise.possibleLengths);
  }

  #planOf(national: string): NumberingPlan | undefined {
    if (this.#plans.size < 2) return this.main;
    for (const plan of this.#plans.values()) {
      const { leadingDigits } = plan;
      if (leadingDigits ? leadingDigits.test(national) : plan.isValid(national)) return plan;
    }
    return undefined;
  }
}

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

  areBelow(length: number): boolean {
    return length > maxNationalDigits || this.bits >>> length === 0;
  }
}

/** By calling code: a thousand at most. */
const families = new Map<string, PlanFamily | undefined>();
const plans = new Map<string, NumberingPlan | undefined>();

/** The family whose calling code begins the digits; `undefined` when no code matches. */
export function familyOf(digits: string): PlanFamily | undefined {
  for (let length = 1; length <= maxCallingCodeDigits; length += 1) {
    const callingCode = digits.slice(0, length);
    let family = families.get(callingCode);
    if (family === undefined && !families.has(callingCode)) {
      family = readFamily(callingCode);
      families.set(callingCode, family);
    }
    if (family !== undefined) return family;
  }
  return undefined;
}

/** By the first three digits: the family of the calling code that begins them; `null` where there is none. */
const familiesByStart: (PlanFamily | null | undefined)[] = Array.from({ length: 1000 });

/** The same for at least three digits in bytes. */
export function familyAt(digits: Uint8Array, from: number, to: number): PlanFamily | undefined {
  if (from + maxCallingCodeDigits > to) return undefined;
  let start = 0;
  for (let at = from; at < from + maxCallingCodeDigits; at += 1) {
    start = start * 10 + (digits[at] as number) - zero;
  }
  let family = familiesByStart[start];
  if (family === undefined) {
    family = familyOf(String(start).padStart(maxCallingCodeDigits, '0')) ?? null;
    familiesByStart[start] = family;
  }
  return family ?? undefined;
}

function readFamily(callingCode: string): PlanFamily | undefined {
  const countries = countriesOf(callingCode);
  const rules = (countries.length > 0 ? countries : [callingCode]).flatMap((name) => {
    const found = rulesOf(name);
    return found?.callingCode === callingCode ? [[name, found] as const] : [];
  });
  return rules.length === 0 ? undefined : new PlanFamily(callingCode, new Map(rules));
}

/** The plan of a country; `undefined` when none is known (`GS`, `UM`). */
export function planOf(country: string): NumberingPlan | undefined {
  const known = plans.get(country);
  if (known !== undefined || plans.has(country)) return known;
  const rules = rulesOf(country);
  const plan = rules && familyOf(rules.callingCode)?.plan(country);
  plans.set(country, plan);
  return plan;
}

function beginsWith(digits: Uint8Array, from: number, to: number, start: string): boolean {
  if (to - from < start.length) return false;
  for (let at = 0; at < start.length; at += 1) {
    if (digits[from + at] !== start.charCodeAt(at)) return false;
  }
  return true;
}

interface NumberType {
  readonly kind: CountryRules['types'][number]['kind'];
  readonly number: RegExp;
  readonly lengths: PossibleLengths;
}

function beginWithOne(
  digits: Uint8Array,
  from: number,
  to: number,
  starts: readonly string[],
): boolean {
  for (const start of starts) if (beginsWith(digits, from, to, start)) return true;
  return false;
}

function startsWithOne(digits: string, starts: readonly string[]): boolean {
  for (const start of starts) if (digits.startsWith(start)) return true;
  return false;
}
