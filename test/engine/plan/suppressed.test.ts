import { describe, expect, it } from 'vitest';
import type { CountryCode } from '../../../src/contract/countries.js';
import { phoneLine } from '../../../src/engine/addresses/phone/phone-line.js';
import { Suppressed } from '../../../src/engine/plan/suppressed.js';

describe('a suppressed number without a calling code', () => {
  it.each<[entry: string, cell: string, country: CountryCode, isSuppressed: boolean]>([
    ['0171 7654321', '+49 171 7654321', 'DE', true],
    ['0171 7654321', '0171/7654321', 'DE', true],
    ['0171 7654321', '+49 171 7654321', 'AT', false],
    ['0171 7654321', '+49 171 7654322', 'DE', false],
    ['171 7654321', '0171 7654321', 'DE', true],
    ['(202) 555-0143', '+1 202 555 0143', 'US', true],
    ['1-202-555-0143', '202-555-0143', 'US', true],
    ['06 6982 1234', '+39 06 6982 1234', 'IT', true],
    ['6 6982 1234', '+39 06 6982 1234', 'IT', false],
    ['8 912 345-67-89', '+7 912 345 67 89', 'RU', true],
    ['06 1 234 5678', '+36 1 234 5678', 'HU', true],
  ])('%s is %s in a row of %s: %s', (entry, cell, country, isSuppressed) => {
    const suppressed = new Suppressed(undefined);
    expect(suppressed.add(entry)).toBe('without_country');
    const address = phoneLine(cell, country);
    const key = 'key' in address ? address.key : '';
    expect(suppressed.has('phone', key)).toBe(false);
    expect(suppressed.hasNational(() => key, country)).toBe(isSuppressed);
  });
});
