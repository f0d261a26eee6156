import metadata from 'libphonenumber-js/max/metadata';

/** What libphonenumber-js knows of a country's numbers; patterns are those of regular expressions. */
export interface CountryRules {
  readonly callingCode: string;
  /** What is dialled in front of a calling code. */
  readonly internationalPrefix: string | undefined;
  readonly number: string;
  readonly lengths: readonly number[];
  /** The national prefix, and how it is combined with the number where needed. */
  readonly nationalPrefix: string | undefined;
  readonly transform: string | undefined;
  /** How its numbers begin, where others share its calling code. */
  readonly leadingDigits: string | undefined;
  /** Numbers of each type: mobile, fixed, toll-free. */
  readonly types: readonly {
    /** Fixed ones that look like mobile ones (North America) are mobile. */
    readonly kind: 'fixed' | 'mobile' | 'other';
    readonly number: string;
    readonly lengths: readonly number[];
  }[];
}

/** Positions of a country's fields, as the library's METADATA.md describes them; 0 stands for nothing. */
const at = {
  callingCode: 0,
  internationalPrefix: 1,
  number: 2,
  lengths: 3,
  nationalPrefix: 5,
  nationalPrefixForParsing: 7,
  transform: 8,
  leadingDigits: 10,
  types: 11,
} as const;

/** The rules of a country, or of a calling code of none; `undefined` where the library has none (`GS`, `UM`). */
export function rulesOf(countryOrCode: string): CountryRules | undefined {
  const { countries, nonGeographic } = metadata;
  const known = [countries, nonGeographic].find((plans) => Object.hasOwn(plans, countryOrCode));
  const fields = (known as Readonly<Record<string, unknown>> | undefined)?.[countryOrCode];
  if (!Array.isArray(fields)) return undefined;
  const text = (place: number): string | undefined => (fields[place] as string | 0) || undefined;
  const lengths = fields[at.lengths] as readonly number[];
  const types = (fields[at.types] || []) as readonly (0 | [string, (readonly number[])?])[];
  const hasMobile = Boolean(types[1] && types[1][0]);
  return {
    callingCode: String(fields[at.callingCode]),
    internationalPrefix: text(at.internationalPrefix),
    number: String(fields[at.number]),
    lengths,
    nationalPrefix: text(at.nationalPrefixForParsing) ?? text(at.nationalPrefix),
    transform: text(at.transform),
    leadingDigits: text(at.leadingDigits),
    types: types.flatMap((type, place) => {
      if (!type || !type[0]) return [];
      const kind = place === 0 && hasMobile ? 'fixed' : place < 2 ? 'mobile' : 'other';
      return [{ kind, number: type[0], lengths: type[1] ?? lengths }];
    }),
  };
}

/** The countries that share a calling code, the main one first; none for those of no country. */
export function countriesOf(callingCode: string): readonly string[] {
  return metadata.country_calling_codes[callingCode] ?? [];
}

export function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}

export function startOf(pattern: string | undefined): RegExp | undefined {
  return pattern === undefined ? undefined : new RegExp(`^(?:${pattern})`);
}

/** The alternatives of a pattern that consists of digits, as most prefixes do; of any other, the empty beginning. */
export function literalsOf(pattern = ''): readonly string[] {
  return /^\d+(?:\|\d+)*$/.test(pattern) ? pattern.split('|') : [''];
}

/** Whether a pattern surely matches no digits that begin with a zero. */
export function beginsWithoutZero(pattern: string): boolean {
  // For each open group, whether it stands at the beginning.
  const groups = [true];
  let isStart = true;
  let wasStart = false;
  for (const [token] of pattern.matchAll(/\(\?:|\[[^[\]]*\]|\\?./g)) {
    if (/[?*{]/.test(token) && token !== '(?:') {
      // An optional part is not a beginning.
      if (wasStart) return false;
      wasStart = false;
    } else if (token === '(?:') {
      groups.push(isStart);
    } else if (token === '|') {
      isStart = groups.at(-1) === true;
    } else if (token === ')') {
      wasStart = groups.pop() === true;
      isStart = false;
    } else {
      if (isStart && !/^(?:[1-9]|\[[1-9-]+\])$/.test(token)) return false;
      wasStart = isStart;
      isStart = false;
    }
  }
  return true;
}

/** Fills the groups of a match into a rule such as `9$1`. */
export function rewrite(rule: string, groups: readonly (string | undefined)[]): string {
  return rule.replaceAll(/\$(\d)/g, (_, group: string) => groups[Number(group)] ?? '');
}
