import { isCountryCode, type CountryCode } from '../contract/countries.js';
import { ConfigurationError } from '../errors/family.js';
import { editDistance } from '../words/edit-distance.js';
import { countryNames } from './country-names.js';

/** No name of a country is longer. */
const maxNameLength = 80;

let byName: ReadonlyMap<string, CountryCode> | undefined;

/**
 * The country that a text names: by its code, by its three-letter code, or by a name, in any case, with
 * or without accents and points, in English, German, French, Italian, Spanish and its own language.
 */
export function findCountry(text: string): CountryCode | undefined {
  // ASCII only: upper case makes country codes of other letters too (the Turkish i without a dot).
  const code = /^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : undefined;
  if (code !== undefined && isCountryCode(code)) return code;
  if (text.length > maxNameLength) return undefined;
  byName ??= readNames();
  return byName.get(plain(text));
}

/**
 * The country that an option names, as `findCountry` finds it.
 *
 * @param option how a message calls what was given
 * @throws ConfigurationError that guesses which country was meant
 *
 * @example
 * ```ts
 * console.log(parseCountry('UK')); // GB
 * ```
 */
export function parseCountry(text: string, option = 'the country'): CountryCode {
  const code = findCountry(text.trim());
  if (code !== undefined) return code;
  const near = guessCountry(text);
  const other = otherCountry(text);
  const hint =
    (near && `did you mean ${near.code} (${near.name})?`) ??
    (other && `${other} is not one of its target countries`) ??
    (/^[A-Za-z]{2}$/.test(text)
      ? `${text.toUpperCase()} is the code of no country`
      : 'give a two-letter code such as US');
  throw new ConfigurationError(
    `the service does not take ${option} ${JSON.stringify(text)}; ${hint}`,
  );
}

/** The name of a code that countries have, and the service does not. */
function otherCountry(text: string): string | undefined {
  if (!/^[A-Za-z]{2}$/.test(text) || /^zz$/i.test(text)) return undefined;
  return new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(text.toUpperCase());
}

/** So many wrong letters in a name. */
const furthest = 2;

/** The country whose name is nearest to a misspelt one; `undefined` when none is near. */
export function guessCountry(
  text: string,
): { readonly code: string; readonly name: string } | undefined {
  const wanted = plain(text.slice(0, maxNameLength));
  if (wanted.length <= 2 * furthest) return undefined;
  const [nearest] = countryNames
    .flatMap((line) => namesIn(line).map((name) => ({ name, code: line.slice(0, 2) })))
    .map((each) => ({ ...each, distance: editDistance(wanted, plain(each.name)) }))
    .filter(({ distance }) => distance <= furthest)
    .toSorted((one, other) => one.distance - other.distance);
  return nearest;
}

function readNames(): ReadonlyMap<string, CountryCode> {
  const names = new Map<string, CountryCode>();
  for (const line of countryNames) {
    const [code = '', threeLetters = ''] = line.split(' ', 2);
    if (!isCountryCode(code)) throw new Error(`${code} is no country of the service`);
    names.set(plain(threeLetters), code);
    for (const name of namesIn(line)) {
      names.set(plain(name), code);
      // As it is written where no key has the letter: Oesterreich.
      names.set(plain(name.replaceAll(/[ÄÖÜäöü]/g, (letter) => `${letter}e`)), code);
    }
  }
  return names;
}

/** Names that follow the two codes. */
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
    .replaceAll(/\bst\b/g, 'saint')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && word !== 'the')
    .join(' ');
}
