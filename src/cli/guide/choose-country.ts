import { ConfigurationError, parseCountry, type SampledList } from '../../index.js';
import { counted, grouped } from '../../platform/text/shown-numbers.js';
import type { ParsedOptions } from '../command.js';
import { message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import { ask, mostTries, type Person } from '../terminal/ask-person.js';
import type { Reporter } from '../terminal/reporter.js';

export type AddedOption = readonly [name: VerifyOption, value: string | true];

export interface ChosenCountry {
  readonly added?: readonly AddedOption[];
  /** Which country, and the evidence; or why none was found. */
  readonly why: string;
  readonly fallback?: OfferedCountry | undefined;
  /** What an empty answer to the question for a country means. @default nothing: it is asked again */
  readonly proposed?: string | undefined;
  /** Whether some sampled rows have no country. @default false */
  readonly isOpen?: boolean;
}

interface OfferedCountry {
  readonly country: string;
  readonly why: string;
}

type FoundCountry = NonNullable<SampledList['mostly']>;

/** From this share on the numbers without a calling code need no country. */
const nearlyAll = 0.9;

/** So many numbers of one country are enough to propose it. */
const leastProposed = 10;

export const countryOptions = ['country', 'country-column', 'country-from'] as const;

/**
 * Chooses by the given options, the list's country column, the calling codes of its numbers, or the locale.
 * Where the evidence covers less than half of the rows or numbers, only a person chooses, unless the locale
 * agrees.
 */
export function chooseCountry(
  options: ParsedOptions<'country' | 'country-column' | 'email-country'>,
  { contacts, country, mostly, callingCodes, rows }: SampledList,
  env: NodeJS.ProcessEnv,
): ChosenCountry {
  const given = options.given().map(([name]) => name);
  const isEmailsOnly = contacts.every(({ type }) => type === 'email');
  const isGiven =
    countryOptions.some((name) => given.includes(name)) ||
    (isEmailsOnly && given.includes('email-country'));
  const isColumnGiven = given.includes('country-column') || given.includes('country-from');
  if (given.includes('country') && !isColumnGiven && country) {
    // What a list says of its rows is not read as of another country.
    const added = [['country-column', country.name] as const];
    return { added, why: 'row by row, of that column; as given where it is empty' };
  }
  if (isGiven) return { added: [], why: 'as given' };
  const locale = byLocale(env);
  const isKnown =
    mostly !== undefined && (mostly.known * 2 >= mostly.of || mostly.country === locale?.country);
  const fallback = isKnown ? { country: mostly.country, why: evidence(mostly) } : locale;
  const byCode = callingCodes && (['country-from', callingCodes.name] as const);
  const ofColumn = `the calling codes of column ${JSON.stringify(callingCodes?.name)}`;
  if (country) {
    const column = ['country-column', country.name] as const;
    const why = 'row by row, of that column';
    if (!country.hasEmpty) return { added: [column], why, fallback };
    const others = fallback && (['country', fallback.country] as const);
    return {
      added: [column, ...(byCode ? [byCode] : []), ...(others ? [others] : [])],
      why: [
        why,
        ...(byCode ? [`where it is empty, by ${ofColumn}`] : []),
        ...(fallback
          ? [
              `${fallback.country} where ${byCode ? 'neither gives one' : 'it is empty'}: ${fallback.why}`,
            ]
          : [`not known where ${byCode ? 'neither gives one' : 'it is empty'}`]),
      ].join('; '),
      isOpen: !fallback,
    };
  }
  if (mostly) {
    const why = evidence(mostly);
    if (isKnown) return { added: [['country', mostly.country]], why: `${mostly.country}: ${why}` };
    const isProposed = mostly.same === mostly.known && mostly.known >= leastProposed;
    return {
      why: `not known: ${why}, and are read by the country that you give`,
      ...(isProposed && { proposed: mostly.country }),
    };
  }
  const fromLocale = locale && (['country', locale.country] as const);
  const ofLocale = `${locale?.country}, ${locale?.why}`;
  if (!byCode) return fromLocale ? { added: [fromLocale], why: ofLocale } : { why: 'not known' };
  const { known, of } = callingCodes;
  const some = known < of ? `, which ${grouped(known)} of ${counted(of, 'number')} have` : '';
  const why = `by ${ofColumn}${some}`;
  if (!fromLocale || known >= of * nearlyAll) {
    return { added: [byCode], why, fallback, isOpen: known < rows };
  }
  return { added: [byCode, fromLocale], why: `${why}; for the others ${ofLocale}` };
}

/** `19 of 210 numbers have a calling code, all of CH; the others have none` */
function evidence({ country, from, of, known, same }: FoundCountry): string {
  const isOfNumbers = from === 'calling_codes';
  const cells = `${grouped(of)} ${isOfNumbers ? 'number' : 'row'}${of === 1 ? '' : 's'}`;
  const some = known === of ? `${of > 1 ? 'all ' : ''}${cells}` : `${grouped(known)} of ${cells}`;
  const have = known === 1 ? 'has' : 'have';
  const share = same === known ? (known > 1 ? 'all of ' : 'of ') : `${grouped(same)} of `;
  const what = isOfNumbers ? 'calling code' : 'country';
  const others =
    known === of || !isOfNumbers
      ? ''
      : `; the ${of - known === 1 ? 'other has' : 'others have'} none`;
  return `${some} ${have} a ${what}, ${share}${country}${others}`;
}

function byLocale(env: NodeJS.ProcessEnv): OfferedCountry | undefined {
  const name = ['LC_ALL', 'LANG'].find((each) => env[each]);
  const locale = name === undefined ? '' : (env[name] ?? '');
  const code = /^[a-z]{2,3}_([A-Z]{2})\b/.exec(locale)?.[1];
  const country = code === undefined ? undefined : countryOf(code);
  return country === undefined
    ? undefined
    : { country, why: `from your locale (${name}=${locale})` };
}

export function countryOf(code: string): string | undefined {
  try {
    return parseCountry(code);
  } catch {
    return undefined;
  }
}

interface Asked {
  readonly person: Person;
  readonly reporter: Reporter;
}

/** @returns `null` where the person leaves */
export async function askCountry(
  asked: Asked,
  signal: AbortSignal,
  proposed?: string,
): Promise<AddedOption | null> {
  const keys = [...(proposed === undefined ? [] : [`Enter: ${proposed}`]), 'n: stop'];
  const question = `Country of these addresses (${keys.join(', ')}), such as US or Germany:`;
  const empty = proposed === undefined ? undefined : { means: proposed };
  const country = await countryAnswered(question, asked, signal, empty);
  if (country === null) return null;
  if (country !== undefined) return ['country', country];
  throw new ConfigurationError(
    'a target country is needed: run the command again with --country <CC>, such as --country US; nothing was sent',
    { code: 'country_missing', option: 'country' },
  );
}

/**
 * @param empty what an empty answer means. @default it is none
 * @returns `undefined` where nobody answers, `null` for `n`: no country is called that
 */
export async function countryAnswered(
  question: string,
  { person, reporter }: Asked,
  signal: AbortSignal,
  empty?: { readonly means: string | undefined },
): Promise<string | null | undefined> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const answer = await ask(question, person, signal);
    if (answer === undefined) break;
    if (answer === '' && empty) return empty.means;
    if (/^n$/i.test(answer)) return null;
    // In capitals it is the code of a country.
    const country = /^[Nn]o$/.test(answer)
      ? refuse('NO is Norway: type NO for it, or n to leave', reporter)
      : countryIn(answer, reporter);
    if (country !== undefined) return country;
  }
  return undefined;
}

/** @returns `undefined` for an invalid answer, after reporting why */
function countryIn(answer: string, reporter: Reporter): string | undefined {
  try {
    return parseCountry(answer);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const isEmpty = answer === '';
    return refuse(
      isEmpty ? 'the service needs a country: give its code or name' : error.message,
      reporter,
    );
  }
}

function refuse(why: string, reporter: Reporter): undefined {
  reporter.report([message('answer_refused', { message: why })]);
}
