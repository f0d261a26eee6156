import { describe, expect, it } from 'vitest';
import {
  fitsCountry,
  isFixedOrMobile,
} from '../../../../src/engine/addresses/phone/fits-country.js';

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
