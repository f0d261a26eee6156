import { describe, expect, it } from 'vitest';
import {
  countryNames,
  findCountry,
  parseCountry,
} from '../../../../src/engine/addresses/country/parse-country.js';
import { countryCodes } from '../../../../src/contract/countries.js';

describe('parseCountry', () => {
  it('takes what people write, and guesses what they meant', () => {
    expect([' uk ', 'USA', 'Germany'].map((text) => parseCountry(text))).toEqual([
      'GB',
      'US',
      'DE',
    ]);
    const trouble = (text: string): void => void parseCountry(text, '--country');
    expect(() => trouble('Germny')).toThrow(/--country "Germny".*\bDE \(Germany\)/);
    expect(() => trouble('Untied States')).toThrow('US (United States)');
    expect(() => trouble('GF')).toThrow(/--country "GF".*French Guiana/);
    // Their numbers are of another country's plan.
    expect(() => trouble('PR')).toThrow('US (Puerto Rico)');
    expect(() => trouble('Îles Åland')).toThrow('FI (Åland Islands)');
    expect(() => trouble('D')).toThrow('DE (Germany)');
    expect(() => trouble('UKK')).toThrow('GB (United Kingdom)');
    expect(() => trouble('Congo')).toThrow(/\bUS\b.*\bGermany$/);
    for (const text of ['XX', 'zz']) {
      const named = new RegExp(`--country "${text}".*\\b${text.toUpperCase()}\\b`);
      expect(() => trouble(text)).toThrow(named);
    }
    for (const text of ['Narnia', '', 'x'.repeat(10_000)]) {
      expect(() => trouble(text), text).toThrow(/\bUS\b.*\bGermany$/);
    }
  });
});

describe('findCountry', () => {
  it('knows a code, a three-letter code and a name of every country of the service', () => {
    expect(countryNames.map((line) => line.slice(0, 2))).toEqual(countryCodes);
    for (const line of countryNames) {
      const code = line.slice(0, 2);
      const [name = ''] = line.slice(7).split(' / ');
      for (const text of [code, line.slice(3, 6), name, ` ${name.toUpperCase()} `]) {
        expect(findCountry(text.trim()), text).toBe(code);
      }
    }
  });

  it('has no name or three-letter code that stands for two countries', () => {
    const names = countryNames.flatMap((line) => [line.slice(3, 6), ...line.slice(7).split(' / ')]);
    for (const line of countryNames) {
      for (const name of [line.slice(3, 6), ...line.slice(7).split(' / ')]) {
        expect(findCountry(name), name).toBe(line.slice(0, 2));
      }
    }
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    ['usa', 'US'],
    ['U.S.A.', 'US'],
    ['United States of America', 'US'],
    ['uk', 'GB'],
    ['Great Britain', 'GB'],
    ['Deutschland', 'DE'],
    ['Cote d Ivoire', 'CI'],
    ["Côte d'Ivoire", 'CI'],
    ['Bosnia and Herzegovina', 'BA'],
    ['Bosnia & Herzegovina', 'BA'],
    ['the Netherlands', 'NL'],
    ['St. Lucia', 'LC'],
    ['Saint Lucia', 'LC'],
    ['Korea, Republic of', 'KR'],
    ['Turkiye', 'TR'],
    ['Großbritannien', 'GB'],
    ['GROSSBRITANNIEN', 'GB'],
    ['vereinigtes koenigreich', 'GB'],
    ['Royaume-Uni', 'GB'],
    ['Regno Unito', 'GB'],
    ['Allemagne', 'DE'],
    ['Germania', 'DE'],
    ['Oesterreich', 'AT'],
    ['Etats Unis', 'US'],
    ['EE.UU.', 'US'],
    ['Pays-Bas', 'NL'],
    ['Costa d’Avorio', 'CI'],
    ['Deutschland (DE)', 'DE'],
    ['DE - Deutschland', 'DE'],
    ['Germany/Deutschland', 'DE'],
    ['de-DE', 'DE'],
    ['GER', 'DE'],
    ['SUI', 'CH'],
    ['GB-ENG', 'GB'],
    ['USA.', 'US'],
    ['U. S. A.', 'US'],
    ['ＵＳＡ', 'US'],
    ['U.A.E.', 'AE'],
    ['Hong Kong SAR', 'HK'],
    ['Hong Kong (S.A.R.)', 'HK'],
    ['Hong Kong, China', 'HK'],
    ['Korea, South', 'KR'],
    ['Korea (South)', 'KR'],
    ['Ireland, Northern', 'GB'],
    ['Czech Rep.', 'CZ'],
    ['Congo, Dem. Rep.', 'CD'],
    ['Congo, Rep.', 'CG'],
    ['Virgin Islands (British)', 'VG'],
    ['United Republic of Tanzania', 'TZ'],
    ['Türkiye (Turkey)', 'TR'],
  ])('knows %s', (text, code) => {
    expect(findCountry(text)).toBe(code);
  });

  it.each([
    '',
    'Narnia',
    'Congo',
    'United',
    'North Korea',
    "Korea, Democratic People's Republic of",
    'DE-BY',
    'DE/AT',
    'US-CA',
    'Georgia (GA)',
    'CHI',
    'D',
    'de und at',
    '__proto__',
    'x'.repeat(10_000),
    'ﬁ',
    'ıt',
    'ıt / ıt',
  ])('does not know %j', (text) => {
    expect(findCountry(text)).toBeUndefined();
  });
});

describe('a country by its own name', () => {
  it.each([
    ['Nederland', 'NL'],
    ['Česko', 'CZ'],
    ['Ελλάδα', 'GR'],
    ['Україна', 'UA'],
    ['Srbija', 'RS'],
    ['日本', 'JP'],
    ['Republica Moldova', 'MD'],
    ['Moçambique', 'MZ'],
  ])('%s is %s', (name, code) => {
    expect(findCountry(name)).toBe(code);
  });

  it('is known of every country in the language that most of its people speak', () => {
    const unknown = countryCodes.filter((code) => {
      const { language } = new Intl.Locale(`und-${code}`).maximize();
      const name = new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? '';
      return findCountry(name) !== code;
    });
    expect(unknown).toEqual([]);
  });
});
