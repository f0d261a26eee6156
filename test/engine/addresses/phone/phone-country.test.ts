import {
  getCountries,
  getExampleNumber,
  parsePhoneNumber,
  type CountryCode as LibraryCountry,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, it } from 'vitest';
import { phoneCountry } from '../../../../src/engine/addresses/phone/phone-country.js';
import { isCountryCode } from '../../../../src/contract/countries.js';
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
