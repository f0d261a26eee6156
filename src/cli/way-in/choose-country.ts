import { parseCountry, type SampledList } from '../../index.js';
import type { ParsedOptions } from '../command.js';
import type { AddedOption } from './whole-command.js';

/** Which countries the addresses of a list would be verified for. */
export interface ChosenCountry {
  readonly added: readonly AddedOption[];
  /** Which, and where that is known from. */
  readonly why: string;
}

/** Options that say which country an address is verified for. */
const countryOptions = ['country', 'country-column', 'country-from'] as const;

/**
 * Chooses by what was given, by the list's own column of countries, by the calling codes of its numbers, or
 * by the locale.
 *
 * @returns `undefined` when nothing of that says one
 */
export function chooseCountry(
  options: ParsedOptions<'country' | 'country-column' | 'email-country'>,
  { contacts, country, mostly }: SampledList,
  environment: NodeJS.ProcessEnv,
): ChosenCountry | undefined {
  const given = options.given().map(([name]) => name);
  const isEmailsOnly = contacts.every(({ type }) => type === 'email');
  const isGiven =
    countryOptions.some((name) => given.includes(name)) ||
    (isEmailsOnly && given.includes('email-country'));
  if (isGiven) return { added: [], why: 'as you said' };
  if (country) {
    const column = ['country-column', country.name] as const;
    if (!country.hasEmpty || !mostly) return { added: [column], why: 'row by row, of that column' };
    return {
      added: [column, ['country', mostly.country]],
      why: `row by row, of that column; ${mostly.country} where it is empty, as ${sources[mostly.from]}`,
    };
  }
  if (mostly) {
    return {
      added: [['country', mostly.country]],
      why: `${mostly.country}, as ${sources[mostly.from]}`,
    };
  }
  return byLocale(environment);
}

const sources = {
  country_column: 'most rows have it',
  calling_codes: 'most phone numbers have its calling code',
} as const;

function byLocale(environment: NodeJS.ProcessEnv): ChosenCountry | undefined {
  const name = ['LC_ALL', 'LANG'].find((each) => environment[each]);
  const locale = name === undefined ? '' : (environment[name] ?? '');
  const code = /^[a-z]{2,3}_([A-Z]{2})\b/.exec(locale)?.[1];
  const country = code === undefined ? undefined : countryOf(code);
  if (country === undefined) return undefined;
  return { added: [['country', country]], why: `${country}, from your locale (${name}=${locale})` };
}

function countryOf(code: string): string | undefined {
  try {
    return parseCountry(code);
  } catch {
    return undefined;
  }
}
