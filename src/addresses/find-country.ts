import { isCountryCode, type CountryCode } from '../contract/countries.js';
import { countryNames } from './country-names.js';

/** No name of a country is longer. */
const maxNameLength = 80;

let byName: ReadonlyMap<string, CountryCode> | undefined;

/**
 * The country that a text names: by its code, by its three-letter code, or by a name, in any case, with
 * or without accents and points.
 */
export function findCountry(text: string): CountryCode | undefined {
  // ASCII only: upper case makes country codes of other letters too (the Turkish i without a dot).
  const code = /^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : undefined;
  if (code !== undefined && isCountryCode(code)) return code;
  if (text.length > maxNameLength) return undefined;
  byName ??= readNames();
  return byName.get(plain(text));
}

function readNames(): ReadonlyMap<string, CountryCode> {
  const names = new Map<string, CountryCode>();
  for (const line of countryNames) {
    const [code = '', threeLetters = ''] = line.split(' ', 2);
    if (!isCountryCode(code)) throw new Error(`${code} is no country of the service`);
    names.set(plain(threeLetters), code);
    for (const name of line.slice(7).split(' / ')) names.set(plain(name), code);
  }
  return names;
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replaceAll(/\bst\b/g, 'saint')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && word !== 'the')
    .join(' ');
}
