import fc from 'fast-check';
import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/min';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { e164, libraryE164 } from '../../src/addresses/e164.js';
import { unsure } from '../../src/addresses/numbering-plan.js';
import { plainE164 } from '../../src/addresses/plain-e164.js';
import { countryCodes, type CountryCode } from '../../src/contract/countries.js';

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...Array.from('0123456789')), minLength, maxLength });

/** Digits around which the rules turn: prefixes of all sorts, then a number of the country, damaged. */
function likelyDigits(country: CountryCode): fc.Arbitrary<string> {
  const own = isSupportedCountry(country) ? getCountryCallingCode(country) : '1';
  const example = examples[country as keyof typeof examples] ?? '2015550123';
  const prefixes = ['', '', '+', '0', '00', '011', '1', '8', '810', own, `0${own}`, `${own}0`];
  const number = fc
    .tuple(fc.nat(example.length), fc.nat(3), digits(0, 10), fc.boolean())
    .map(([at, dropped, inserted, isKept]) =>
      isKept ? example : example.slice(0, at) + inserted + example.slice(at + dropped),
    );
  return fc
    .tuple(
      fc.constantFrom(...prefixes, `+${own}`, `+${own}`, `+${own}0`, `+${own}${own}`, `00${own}`),
      fc.oneof({ weight: 3, arbitrary: number }, digits(3, 14)),
    )
    .map((parts) => parts.join(''));
}

const inCountry = fc
  .constantFrom(...countryCodes)
  .chain((country) => fc.tuple(fc.constant(country), likelyDigits(country)));

describe('plainE164', () => {
  it('says what the library says, wherever it is sure', () => {
    let sure = 0;
    const numRuns = 15_000;
    fc.assert(
      fc.property(inCountry, ([country, text]) => {
        const plain = plainE164(text, country);
        if (plain === unsure) return;
        sure += 1;
        expect(plain).toBe(libraryE164(text, country));
      }),
      { numRuns },
    );
    // Were it seldom sure, it would be right and useless.
    expect(sure).toBeGreaterThan(numRuns / 2);
  });

  it.each<[CountryCode, string]>([
    ['DE', '+4930123456'],
    ['DE', '030123456'],
    ['DE', '004930123456'],
    ['US', '2015550123'],
    ['US', '12015550123'],
    ['GB', '07400123456'],
    ['FR', '0142685300'],
    ['RU', '88005553535'],
    ['CA', '+15062345678'],
  ])('is sure of the plainest numbers (%s %s)', (country, text) => {
    expect(plainE164(text, country)).toBe(libraryE164(text, country));
  });
});

describe('e164', () => {
  it('gives a form that stands for itself, and is the one the library gives', () => {
    fc.assert(
      fc.property(inCountry, ([country, text]) => {
        const number = e164(text, country);
        if (number === undefined) return;
        expect(number).toMatch(/^\+[1-9]\d+$/);
        expect(number).toBe(libraryE164(text, country));
        expect(libraryE164(number, country)).toBe(number);
      }),
      { numRuns: 5000 },
    );
  });
});
