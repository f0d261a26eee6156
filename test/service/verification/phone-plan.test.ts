import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { countryCodes } from '../../../src/contract/countries.js';
import { isPlainNumber, readPlainNumber } from '../../../src/service/verification/phone-plan.js';
import { readPhone, readWithLibrary } from '../../../src/service/verification/judge-phone.js';

const callingCodes = [
  ...new Set<string>(getCountries().map((country) => getCountryCallingCode(country))),
  '800',
  '808',
  '870',
  '878',
  '881',
  '882',
  '883',
  '888',
  '979',
  '999',
  '0',
  '21',
];

const digits = Array.from('0123456789');

function isSame(number: string): boolean {
  const plain = readPlainNumber(number);
  const isPlain = isPlainNumber(number);
  if (plain === 'unsure') return isPlain === 'unsure';
  const read = readWithLibrary(number, 'US');
  return isDeepStrictEqual(plain, read) && isPlain === (read !== undefined);
}

describe('plain numbers', () => {
  it('are read as the library reads them, whatever their digits', () => {
    const rest = fc.string({ unit: fc.constantFrom(...digits), maxLength: 16 });
    const read = fc.check(
      fc.property(fc.constantFrom(...callingCodes), rest, (code, national) =>
        isSame(`+${code}${national}`),
      ),
      { numRuns: 3000 },
    );
    expect(read.counterexample).toBeNull();
  });

  it('are read as the library reads them close to real numbers', () => {
    const countries = getCountries().filter((country) => examples[country] !== undefined);
    const near = fc.tuple(
      fc.constantFrom(...countries),
      fc.array(fc.tuple(fc.nat({ max: 14 }), fc.constantFrom(...digits)), { maxLength: 4 }),
      fc.integer({ min: -2, max: 2 }),
    );
    const read = fc.check(
      fc.property(near, ([country, changes, longer]) => {
        const national = Array.from(examples[country]);
        for (const [at, digit] of changes) if (at < national.length) national[at] = digit;
        const rest = (national.join('') + '55').slice(0, national.length + longer);
        return isSame(`+${getCountryCallingCode(country)}${rest}`);
      }),
      { numRuns: 4000 },
    );
    expect(read.counterexample).toBeNull();
  });

  it('are seldom left to the library', () => {
    const unsure = getCountries()
      .filter((country) => examples[country] !== undefined)
      .filter(
        (country) =>
          readPlainNumber(`+${getCountryCallingCode(country)}${examples[country]}`) === 'unsure',
      );
    expect(unsure.length).toBeLessThan(25);
  });
});

describe('phones', () => {
  it('have no letters and no extension', () => {
    for (const phone of [
      '1-800-FLOWERS',
      '+1 202 555 0143 x12',
      'tel:+12025550143',
      '+12025550143;ext=1',
    ]) {
      expect(readPhone(phone, 'US')).toBeUndefined();
    }
  });

  it('are read for every country there is, and for none that the library knows not', () => {
    for (const country of countryCodes) {
      expect(readPhone('+12025550143', country)?.valid).toBe(true);
    }
  });

  it('of any length and any characters are read at once', () => {
    for (const phone of [
      '+'.repeat(1_000_000),
      '1'.repeat(1_000_000),
      '('.repeat(60),
      '+1'.repeat(30),
    ]) {
      expect(readPhone(phone, 'US')).toBeUndefined();
    }
  });
});
