import { countryCodes, isCountryCode, type CountryCode } from '../../../contract/countries.js';
import { ConfigurationError } from '../../../platform/errors/errors.js';
import { editDistance } from '../../../platform/text/closest-name.js';
import countryNamesText from './country-names.txt';

/** A line for each country: its codes, and names with ` / ` between them. */
export const countryNames = countryNamesText.split('\n').filter((line) => /^[A-Z]/.test(line));

/** No country's name is longer. */
const maxNameLength = 80;

let byName: ReadonlyMap<string, CountryCode> | undefined;
/** Loaded when needed: the names of so many languages take a moment. */
let byNativeName: ReadonlyMap<string, CountryCode | undefined> | undefined;

/**
 * The country that a text surely names: by its code, its three-letter code, or its name in English, German,
 * French, Italian, Spanish or its own language, in any case, with or without accents and points. An ambiguous
 * text names none.
 */
export function findCountry(text: string): CountryCode | undefined {
  if (text.length > maxNameLength) return undefined;
  return (
    codeIn(text) ?? named(text) ?? named(turned(text)) ?? namedTwice(text) ?? nativeNameOf(text)
  );
}

/** The country that a cell of a column of countries names, there also by its code on cars (`D`). */
export function findCountryInColumn(cell: string): CountryCode | undefined {
  return findCountry(cell) ?? singleLetterCodes.get(cell.toLowerCase());
}

function nativeNameOf(text: string): CountryCode | undefined {
  if (!/\p{L}{3}|[^\p{ASCII}]/u.test(text)) return undefined;
  byNativeName ??= readNativeNames();
  return byNativeName.get(plain(text));
}

/** In each country's main language, and in Latin letters where both are in use. */
function readNativeNames(): ReadonlyMap<string, CountryCode | undefined> {
  const names = new Map<string, CountryCode | undefined>();
  const inLanguage = new Map<string, Intl.DisplayNames>();
  for (const code of countryCodes) {
    const { language, script } = new Intl.Locale(`und-${code}`).maximize();
    for (const locale of script === 'Cyrl' ? [language, `${language}-Latn`] : [language]) {
      const native = inLanguage.get(locale) ?? new Intl.DisplayNames(locale, { type: 'region' });
      inLanguage.set(locale, native);
      const name = plain(native.of(code) ?? '');
      // A name that two countries share is ambiguous.
      names.set(name, names.has(name) && names.get(name) !== code ? undefined : code);
    }
  }
  return names;
}

/** ASCII only: upper case makes country codes of other letters too (the Turkish i without a dot). */
function codeIn(text: string): CountryCode | undefined {
  const code = /^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : '';
  return isCountryCode(code) ? code : undefined;
}

function named(text: string): CountryCode | undefined {
  byName ??= readNames();
  return byName.get(plain(text));
}

/** `Korea, South` and `Korea (South)`, as in sorted lists: `South Korea`. */
function turned(text: string): string {
  const [, first = '', last = ''] = /^([^,()]+)[,(]([^,()]+)\)?$/.exec(text) ?? [];
  return `${last} ${first}`;
}

/** The one country that all parts of a text name: `Deutschland (DE)`, `US - United States`. */
function namedTwice(text: string): CountryCode | undefined {
  const parts = text.split(/[^\p{L}\p{N}\p{M}\s.'’&]+/u).filter((part) => plain(part) !== '');
  const [first, ...others] = parts.map((part) => codeIn(part.trim()) ?? named(part));
  return others.length > 0 && others.every((other) => other === first) ? first : undefined;
}

/**
 * The country that an option names.
 *
 * @param option the option's name in messages
 * @throws ConfigurationError with a guess of which country was meant
 *
 * @example
 * ```ts
 * console.log(parseCountry('UK')); // GB
 * ```
 */
export function parseCountry(text: string, option?: string): CountryCode {
  const code = findCountry(text.trim());
  if (code !== undefined) return code;
  const near = guessCountry(text);
  const other = `${near?.name ?? ''} is not one of its target countries`;
  const hint =
    (near && (near.code === null ? other : `did you mean ${near.code} (${near.name})?`)) ??
    (/^[A-Za-z]{2}$/.test(text)
      ? `${text.toUpperCase()} is the code of no country`
      : 'give its code or name, such as US or Germany');
  throw new ConfigurationError(
    `the service does not take ${option ?? 'the country'} ${JSON.stringify(text)}; ${hint}`,
    { option },
  );
}

/** Most wrong letters in a name, one for each this many letters. */
const mostWrong = 2;
const lettersForOne = 3;
/** A shorter text is a code. */
const shortestName = 4;

/** Codes on cars: a country in a column of countries, elsewhere likely one. Not `M`, which beside `F` is no country. */
const singleLetterCodes: ReadonlyMap<string, CountryCode> = new Map([
  ['a', 'AT'],
  ['b', 'BE'],
  ['d', 'DE'],
  ['e', 'ES'],
  ['f', 'FR'],
  ['h', 'HU'],
  ['i', 'IT'],
  ['l', 'LU'],
  ['n', 'NO'],
  ['p', 'PT'],
  ['s', 'SE'],
]);

/** Territories without a plan of their own: their numbers are of another country's plan. */
const planHolders: ReadonlyMap<string, CountryCode> = new Map([
  ['Guam', 'US'],
  ['Puerto Rico', 'US'],
  ['U.S. Virgin Islands', 'US'],
  ['Isle of Man', 'GB'],
  ['Åland Islands', 'FI'],
  ['Svalbard & Jan Mayen', 'NO'],
  ['Christmas Island', 'AU'],
  ['Cocos (Keeling) Islands', 'AU'],
]);

/** The country probably meant by an unknown text; its code is `null` where the service does not accept that country. */
export function guessCountry(
  text: string,
): { readonly code: string | null; readonly name: string } | undefined {
  const wanted = plain(text.slice(0, maxNameLength));
  const other = otherName(text, wanted);
  if (other !== undefined) return { code: planHolders.get(other) ?? null, name: other };
  const letter = singleLetterCodes.get(wanted);
  const doubled = /^\p{L}{3}$/u.test(wanted) ? wanted.replace(/(.)\1/u, '$1') : '';
  const code =
    letter ?? nearestCode(wanted) ?? (doubled.length === 2 ? findCountry(doubled) : undefined);
  const line = countryNames.find((each) => each.startsWith(code ?? ' '));
  return line === undefined ? undefined : { code: line.slice(0, 2), name: namesIn(line)[0] ?? '' };
}

function nearestCode(wanted: string): string | undefined {
  const furthest = Math.min(mostWrong, Math.floor(wanted.length / lettersForOne));
  const [nearest] = countryNames
    .flatMap((line) => namesIn(line).map((name) => ({ name: plain(name), code: line.slice(0, 2) })))
    .filter(({ name }) => name.length >= shortestName)
    .map(({ name, code }) => ({ code, distance: editDistance(wanted, name) }))
    .filter(({ distance }) => distance <= furthest)
    .toSorted((one, other) => one.distance - other.distance);
  return nearest?.code;
}

const languages = ['en', 'de', 'fr', 'it', 'es'];
let otherNames: ReadonlyMap<string, string> | undefined;

/** The English name of a country that the service does not take. */
function otherName(text: string, wanted: string): string | undefined {
  otherNames ??= readOtherNames();
  return otherNames.get(/^[A-Za-z]{2}$/.test(text.trim()) ? text.trim().toUpperCase() : wanted);
}

function readOtherNames(): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const [english, ...others] = languages.map(
    (language) => new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }),
  );
  for (const code of everyCode()) {
    const name = english?.of(code);
    // Old codes share the name of a present country.
    if (name === undefined || named(name) !== undefined) continue;
    names.set(code, name);
    for (const native of [name, ...others.map((each) => each.of(code) ?? '')]) {
      if (!names.has(plain(native))) names.set(plain(native), name);
    }
  }
  return names;
}

/** All pairs of letters, except those reserved for no country (`XA`, `ZZ`). */
function everyCode(): readonly string[] {
  const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  return letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !isCountryCode(code) && !/^(?:X[AB]|Z|Q)/.test(code));
}

function readNames(): ReadonlyMap<string, CountryCode> {
  const names = new Map<string, CountryCode>();
  for (const line of countryNames) {
    const [code = '', threeLetters = ''] = line.split(' ', 2);
    if (!isCountryCode(code)) throw new Error(`${code} is not a country of the service`);
    names.set(plain(threeLetters), code);
    for (const name of namesIn(line)) {
      names.set(plain(name), code);
      if (name.includes(',')) names.set(plain(turned(name)), code);
      // As typed on keyboards without umlauts: Oesterreich.
      names.set(plain(name.replaceAll(/[ÄÖÜäöü]/g, (letter) => `${letter}e`)), code);
    }
  }
  return names;
}

function namesIn(line: string): readonly string[] {
  return line.slice(7).split(' / ');
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('&', ' and ')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => !['', 'the', 'of'].includes(word))
    .map((word) => shortWords.get(word) ?? word)
    .join(' ')
    .replaceAll(singleLetters, '');
}

/** Between the letters of `U. S. A.` */
const singleLetters = /(?<=(?:^| )\p{L}) (?=\p{L}(?: |$))/gu;
const shortWords: ReadonlyMap<string, string> = new Map([
  ['st', 'saint'],
  ['rep', 'republic'],
  ['dem', 'democratic'],
]);
