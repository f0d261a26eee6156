import { describe, expect, it } from 'vitest';
import { laneName, parseCountryCell } from '../../src/addresses/lane.js';
import { countryCodes } from '../../src/contract/countries.js';
import { invalidText, type CellText } from '../../src/rows/row-chunk.js';

describe('laneName', () => {
  it('joins type and country', () => {
    expect(laneName({ type: 'email', country: 'US' })).toBe('email-US');
    expect(laneName({ type: 'phone', country: 'DE' })).toBe('phone-DE');
  });
});

describe('parseCountryCell', () => {
  it('takes every country of the contract in any case', () => {
    for (const country of countryCodes) {
      expect(parseCountryCell(country, undefined)).toBe(country);
      expect(parseCountryCell(` ${country.toLowerCase()}\u00a0`, undefined)).toBe(country);
    }
  });

  it('falls back where the cell is empty, and only there', () => {
    for (const empty of [undefined, '', ' \t', '\ufeff']) {
      expect(parseCountryCell(empty, 'FR')).toBe('FR');
      expect(parseCountryCell(empty, undefined)).toEqual({ reason: 'country_missing' });
    }
    expect(parseCountryCell('XX', 'FR')).toEqual({ reason: 'country_unsupported' });
  });

  it.each<CellText>([
    'XX',
    'XXX',
    'U',
    'Narnia',
    'ıt',
    'ﬁ',
    'ＵＳ',
    '__proto__',
    'constructor',
    invalidText,
  ])('does not know %s', (cell) => {
    expect(parseCountryCell(cell, undefined)).toEqual({ reason: 'country_unsupported' });
  });
});
