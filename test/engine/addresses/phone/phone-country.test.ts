import {
  type CountryCode as LibraryCountry,
  getCountries,
  getExampleNumber,
  parsePhoneNumber,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { isCountryCode } from '../../../../src/contract/countries.js';
import {
  fitsCountry,
  isFixedOrMobile,
  missingPlusSign,
  phoneCountry,
} from '../../../../src/engine/addresses/phone/phone-country.js';
import { invalidText } from '../../../../src/lists/rows/chunks/row-chunk.js';

describe('phoneCountry', () => {
  it.each([
    ['+44 7400 123456', 'GB'],
    ['0044 7400 123456', 'GB'],
    ["'+44 (0) 7400 123456", 'GB'],
    ['0049 (0) 30 123456', 'DE'],
    ['+1 (202) 555-0143', 'US'],
    ['＋４９ ３０ １２３４５６', 'DE'],
    ['+49 30', 'DE'],
    // Shared codes: the country of the valid number, else the main one.
    ['+1 416 555 0123', 'CA'],
    ['+1 876 301 2345', 'JM'],
    ['+1 12', 'US'],
    ['+7 701 234 5678', 'KZ'],
    ['+7 916 123 45 67', 'RU'],
    ['+44 1481 256789', 'GG'],
    // What looks like a British mobile number and is one of Guernsey.
    ['+44 7911 123456', 'GG'],
    ['+44 7797 712345', 'JE'],
    ['+44 99', 'GB'],
    // Countries that the service does not take have the main one of their code.
    ['+1 787 234 5678', 'US'],
    ['+44 7624 123456', 'GB'],
    // Others have none.
    ['07400 123456', undefined],
    ['447911123456', undefined],
    ['011 44 7400 123456', undefined],
    ['0000', undefined],
    ['0012', undefined],
    ['+999 123', undefined],
    ['+800 1234 5678', undefined],
    ['+44 7400 CALLME', undefined],
    ['', undefined],
    ['+', undefined],
  ])('%j is of %s', (cell, country) => {
    expect(phoneCountry(cell)).toBe(country);
  });

  it('says of a calling code whose country the service does not take that it is not supported', () => {
    expect(phoneCountry('+220 301 2345')).toEqual({ reason: 'country_unsupported' });
    expect(phoneCountry('00383 43 201 234')).toEqual({ reason: 'country_unsupported' });
  });

  it('takes what is no text for no number', () => {
    expect(phoneCountry(undefined)).toBeUndefined();
    expect(phoneCountry(invalidText)).toBeUndefined();
    expect(phoneCountry(`+44${'1'.repeat(10_000)}`)).toBeUndefined();
  });

  it('agrees with libphonenumber on an example of every country of the service', () => {
    let seen = 0;
    for (const country of getCountries()) {
      const number = getExampleNumber(country, examples)?.number;
      if (number === undefined) continue;
      const found = parsePhoneNumber(number)?.country as LibraryCountry;
      if (!isCountryCode(found)) continue;
      expect(phoneCountry(number), number).toBe(found);
      expect(phoneCountry(number.replace('+', '00')), number).toBe(found);
      seen += 1;
    }
    expect(seen).toBeGreaterThan(200);
  });
});

describe('fitsCountry', () => {
  it.each([
    ['030 / 6474 854', 'DE'],
    [' 07400 123456 ', 'GB'],
    ['+49 30 6474854', 'DE'],
    ['416 555 0123', 'CA'],
  ] as const)('takes %j for a number of %s', (cell, country) => {
    expect(fitsCountry(cell, country)).toBe(true);
  });

  it.each([
    ['07400 123456', 'CH'],
    ['0800 123456', 'DE'],
    ['+49 30 6474854', 'GB'],
    ['416 555 0123', 'US'],
    ['030 / 6474 ext. 1', 'DE'],
    ['', 'DE'],
    ['030 6474854', 'GS'],
  ] as const)('does not take %j for one of %s', (cell, country) => {
    expect(fitsCountry(cell, country)).toBe(false);
  });
});

describe('isFixedOrMobile', () => {
  it('takes a valid number in its E.164 form', () => {
    expect(isFixedOrMobile('+447400123456')).toBe(true);
    for (const line of ['447400123456', '+4420712345', '+999123456', '', '+']) {
      expect(isFixedOrMobile(line), line).toBe(false);
    }
  });
});

describe('a calling code that may have lost its +', () => {
  it.each([
    ['447400123456', 'DE', 'mobile'],
    ['41 79 123 45 03', 'DE', 'mobile'],
    ["'447400123456.0", 'US', 'mobile'],
    ['442071234567', 'DE', 'fixed'],
    // A long number at home, or a mobile with the calling code: sent as it is written.
    ['491711234500', 'DE', 'mobile'],
    ['4313456789', 'DE', 'fixed'],
  ] as const)('begins %s, read in %s, as that of a %s number', (cell, country, kind) => {
    expect(missingPlusSign(cell, country)).toBe(kind);
  });

  it.each([
    // They say what they are.
    ['+447400123456', 'DE'],
    ['00447400123456', 'DE'],
    ['07400 123456', 'GB'],
    ['+49 (0) 171 1234500', 'DE'],
    // Surely read so.
    ['447400123456', 'GB'],
    ['4930123456', 'DE'],
    ['12025550143', 'US'],
    // Mobile numbers at home, though they are numbers of Texas, Norway, Portugal with their first digits.
    ['15122345678', 'DE'],
    ['4792345678', 'US'],
    ['3511234567', 'IT'],
    // Too short, too long, of no country, not valid, no number.
    ['431123456', 'DE'],
    ['4474001234561234', 'DE'],
    ['9991234567', 'DE'],
    ['800 1234 5678', 'DE'],
    ['440000000000', 'DE'],
    ['447400123456 ext. 1', 'DE'],
    ['44 (0) 7400 123456', 'DE'],
    ['', 'DE'],
    [undefined, 'DE'],
    [invalidText, 'DE'],
    ['4'.repeat(10_000), 'DE'],
  ] as const)('is not seen in %j, read in %s', (cell, country) => {
    expect(missingPlusSign(cell, country)).toBeUndefined();
  });

  it('is seen in every number with its calling code where no plan of the country is known', () => {
    expect(missingPlusSign('447400123456', 'GS')).toBe('mobile');
  });
});
