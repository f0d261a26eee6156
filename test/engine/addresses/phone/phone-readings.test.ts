import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import {
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/max/metadata';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import {
  possibleNumbers,
  sureNumber,
} from '../../../../src/engine/addresses/phone/phone-readings.js';
import { countryCodes, type CountryCode } from '../../../../src/contract/countries.js';

// A string of fast-check's own unit costs more to make than all else here.
const digits = (minLength: number, maxLength: number) =>
  fc.array(fc.nat(9), { minLength, maxLength }).map((numbers) => numbers.join(''));

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

const inCountry = fc.oneof(
  ...countryCodes.map((country) => fc.tuple(fc.constant(country), likelyDigits(country))),
);

/** What libphonenumber-js makes of digits, where that means itself. */
function read(text: string, country?: CountryCode): { number: string; valid: boolean } | undefined {
  const number = parsePhoneNumberFromString(text, {
    ...(country !== undefined && isSupportedCountry(country) && { defaultCountry: country }),
    extract: false,
  });
  if (!number?.isPossible()) return undefined;
  // What means another number, or none, when it is read again (`3000000` in Canada) is no form to send.
  const again = parsePhoneNumberFromString(number.number);
  if (again?.number !== number.number || !again.isPossible()) return undefined;
  return { number: number.number, valid: number.isValid() };
}

/** The countries by whose plan libphonenumber-js reads what begins with their calling code. */
const mainCountries = countryCodes.filter((country) =>
  Object.values(metadata.country_calling_codes).some(([main]) => main === country),
);

describe('sureNumber', () => {
  it('reads what begins with a plus as libphonenumber-js does', () => {
    fc.assert(
      fc.property(inCountry, ([country, text]) => {
        const abroad = `+${text.replace('+', '')}`;
        assert.equal(sureNumber({ digits: abroad }, country), read(abroad)?.number);
      }),
      { numRuns: 4000 },
    );
  });

  it('reads what begins with no prefix of calls abroad and no calling code as libphonenumber-js does', () => {
    const national = inCountry.filter(
      ([country, text]) =>
        isSupportedCountry(country) &&
        !/^(?:\+|0|8|9|1[145])/.test(text) &&
        !text.startsWith(getCountryCallingCode(country)),
    );
    fc.assert(
      fc.property(national, ([country, text]) => {
        assert.equal(sureNumber({ digits: text }, country), read(text, country)?.number);
      }),
      { numRuns: 4000 },
    );
  });

  it('takes the only valid one of a national number and one with its calling code', () => {
    const withCode = fc.oneof(
      ...mainCountries.map((country) =>
        fc.tuple(
          fc.constant(country),
          likelyDigits(country)
            .map((text) => getCountryCallingCode(country as never) + text)
            .filter((text) => /^\d+$/.test(text)),
        ),
      ),
    );
    let ambiguous = 0;
    fc.assert(
      fc.property(withCode, ([country, text]) => {
        const code = getCountryCallingCode(country as never);
        const readings = new Map(
          [read(`+${code}${text}`), read(`+${text}`)].flatMap((each) =>
            each ? [[each.number, each.valid] as const] : [],
          ),
        );
        const valid = [...readings].filter(([, isValid]) => isValid).map(([number]) => number);
        const [only, other] = valid.length > 0 ? valid : readings.keys();
        if (other !== undefined) ambiguous += 1;
        assert.equal(sureNumber({ digits: text }, country), other === undefined ? only : undefined);
      }),
      { numRuns: 4000 },
    );
    expect(ambiguous).toBeGreaterThan(40);
  });

  it('gives a form that means itself, and is one of the possible numbers', () => {
    fc.assert(
      fc.property(inCountry, ([country, text]) => {
        const number = sureNumber({ digits: text }, country);
        if (number === undefined) return;
        assert.match(number, /^\+[1-9]\d+$/);
        assert.equal(sureNumber({ digits: number }, country), number);
        assert.ok(possibleNumbers({ digits: text }, country).includes(number));
      }),
      { numRuns: 2500 },
    );
  });
});
