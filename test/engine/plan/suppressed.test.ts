import { describe, expect, it } from 'vitest';
import type { CountryCode } from '../../../src/contract/countries.js';
import { Suppressed } from '../../../src/engine/plan/suppressed.js';

describe('a suppressed number without a calling code', () => {
  it.each<[entry: string, cell: string, country: CountryCode, isSuppressed: boolean]>([
    ['0171 7654321', '+49 171 7654321', 'DE', true],
    ['0171 7654321', '0171/7654321', 'DE', true],
    // Whoever is on the list may be the one: of any country, whatever the row's.
    ['0171 7654321', '+49 171 7654321', 'AT', true],
    ['0171 7654321', '0171 7654321', 'US', true],
    ['0171 7654321', '+49 171 7654322', 'DE', false],
    ['171 7654321', '0171 7654321', 'DE', true],
    ['(202) 555-0143', '+1 202 555 0143', 'US', true],
    ['1-202-555-0143', '202-555-0143', 'US', true],
    ['06 6982 1234', '+39 06 6982 1234', 'IT', true],
    ['6 6982 1234', '+39 06 6982 1234', 'IT', false],
    ['8 912 345-67-89', '+7 912 345 67 89', 'RU', true],
    ['06 1 234 5678', '+36 1 234 5678', 'HU', true],
    // The plus sign is lost on either side, or on both.
    ['4915117049009', '+49 151 17049009', 'AT', true],
    ['4915117049009', '4915117049009', 'DE', true],
    ['0151 17049009', '4915117049009', 'DE', true],
    ['0151 17049009', '4915117049009', 'AT', true],
  ])('%s is %s in a row of %s: %s', (entry, cell, country, expected) => {
    for (const ofRun of [undefined, 'US', 'FR'] as const) {
      const suppressed = new Suppressed(ofRun);
      expect(suppressed.add(entry)).toBe('without_country');
      expect(suppressed.hasIn('phone', cell, country)).toBe(expected);
    }
  });

  it.each<[cell: string, country: CountryCode, isSuppressed: boolean]>([
    ['+43 664 1043612', 'DE', true],
    ['0664 1043612', 'AT', true],
    // The same digits, of whatever country.
    ['0664 1043612', 'DE', true],
    ['0664/1043612 ab 18 Uhr', 'US', true],
    ['+49 664 1043612', 'DE', false],
  ])('is one of the country beside it: %s in a row of %s: %s', (cell, country, expected) => {
    const suppressed = new Suppressed('DE');
    expect(suppressed.add('0664 1043612', 'AT')).toBe('phone');
    expect(suppressed.hasIn('phone', cell, country)).toBe(expected);
  });
});

it.each<[entry: string, cell: string, country: CountryCode, isSuppressed: boolean]>([
  ['+4915117049009', '4915117049009', 'DE', true],
  ['+4915117049009', '4915117049009', 'AT', true],
  ['+4915117049009', '0151/17049009 ab 18 Uhr', 'DE', true],
  ['+4915117049009', 'Ada: +49 151 17049009', 'US', true],
  ['+4915117049009', '0151/17049008 ab 18 Uhr', 'DE', false],
  ['Ada +49 151 17049009, ab 18 Uhr', '0151 17049009', 'DE', true],
  ['0151 17049009 / 0171 7654321', '+49 171 7654321', 'DE', true],
  ['+80012345678', '0080012345678', 'DE', true],
  ['1-800-FLOWERS', '1-800-FLOWERS', 'US', true],
  ['1-800-FLOWERS', '1-800-CONTACTS', 'US', false],
])('%s on a list, %s in a row of %s: %s', (entry, cell, country, expected) => {
  const suppressed = new Suppressed(undefined);
  suppressed.add(entry);
  expect(suppressed.hasIn('phone', cell, country)).toBe(expected);
});
