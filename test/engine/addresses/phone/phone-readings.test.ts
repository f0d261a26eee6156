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
import { type CountryCode, countryCodes } from '../../../../src/contract/countries.js';
import {
  possibleNumbers,
  sureNumber,
} from '../../../../src/engine/addresses/phone/phone-readings.js';
import { phoneDigits } from '../../../../src/engine/addresses/phone/phone-digits.js';

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

describe('phoneDigits', () => {
  it.each([
    ['0123456789', '0123456789'],
    ['+49 30', '+4930'],
    ['(+49) 30', '+4930'],
    ['＋４９', '+49'],
    ['(030) 12.34/56-78', '03012345678'],
    ['[030]\u00a012\u200712\u202f3', '03012123'],
    ['1\u00ad2\u200b3\u2060', '123'],
    ['\u202a+49 30\u202c', '+4930'],
    ['\u202d+1 (2)\u202c', '+12'],
    ['\u2068\u200e12\u2069\ufeff', '12'],
    ['1\u20102\u20113\u20124\u20135\u20146\u20157\u22128－9﹣0', '1234567890'],
    ['（０１２）３／４．５', '012345'],
    ['٠١٢٣٤٥٦٧٨٩', '0123456789'],
    ['۰۱۲۳۴۵۶۷۸۹', '0123456789'],
  ])('finds in %s the digits %s', (text, digits) => {
    expect(phoneDigits(text)).toEqual({ digits });
  });

  it.each([
    ['+49 (0) 30', '+49030', 3],
    ['49(0)30', '49030', 2],
    ['0049 [ 0 ] 30', '0049030', 4],
    ['＋４９（０）３０', '+49030', 3],
  ])('finds in %s the zero in brackets', (text, digits, zeroAt) => {
    expect(phoneDigits(text)).toEqual({ digits, zeroAt });
  });

  it('takes a zero in brackets in front of all digits for one of them', () => {
    expect(phoneDigits('(0) 30 12')).toEqual({ digits: '03012' });
  });

  it.each([
    '',
    ' ',
    '+',
    '(-)',
    'a',
    '12a',
    '1+2',
    '++1',
    '+1+',
    '1,2',
    '1#2',
    '1~2',
    '1*2',
    '१२',
    '1\t2',
    '²',
    '\u202e12',
  ])('finds nothing but text in "%s"', (text) => {
    expect(phoneDigits(text)).toBeUndefined();
  });
});
