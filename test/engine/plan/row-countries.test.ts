import { describe, expect, it } from 'vitest';
import { parseCountryCell } from '../../../src/engine/plan/row-countries.js';
import { countryCodes } from '../../../src/contract/countries.js';
import { invalidText, type CellText } from '../../../src/lists/rows/chunks/row-chunk.js';

describe('parseCountryCell', () => {
  it('takes every country of the contract in any case', () => {
    for (const country of countryCodes) {
      expect(parseCountryCell(country)).toBe(country);
      expect(parseCountryCell(` ${country.toLowerCase()}\u00a0`)).toBe(country);
    }
  });

  it('says where a cell is empty, so that another may say the country', () => {
    for (const empty of [undefined, '', ' \t', '\ufeff']) {
      expect(parseCountryCell(empty)).toBeUndefined();
    }
    expect(['D', ' a ', 'F'].map((cell) => parseCountryCell(cell))).toEqual(['DE', 'AT', 'FR']);
    expect(parseCountryCell('XX')).toEqual({ reason: 'country_unsupported' });
  });

  it.each<CellText>([
    'XX',
    'XXX',
    'U',
    'M',
    'Narnia',
    'ıt',
    'ﬁ',
    '__proto__',
    'constructor',
    invalidText,
  ])('does not know %s', (cell) => {
    expect(parseCountryCell(cell)).toEqual({ reason: 'country_unsupported' });
  });
});
