import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lostPlusOf, mayHaveLostPlus } from '../../../../src/engine/addresses/phone/lost-plus.js';
import { planOf } from '../../../../src/engine/addresses/phone/numbering-plan.js';
import { sureNumber } from '../../../../src/engine/addresses/phone/phone-readings.js';
import {
  plainDigits,
  plainFamily,
  plainNumberBytes,
  plainText,
  readPlainDigits,
  writePlainNumber,
} from '../../../../src/engine/addresses/phone/plain-phone.js';
import { countryCodes, type CountryCode } from '../../../../src/contract/countries.js';

/** The number that the digits of a cell are by their beginning and their count. */
function numberOf(cell: string, country: CountryCode): string | undefined {
  const count = readPlainDigits(Buffer.from(cell), 0, cell.length);
  const family = plainFamily(count, planOf(country));
  if (!family) return undefined;
  const into = Buffer.alloc(plainNumberBytes + 1);
  return into.toString('latin1', 1, 1 + writePlainNumber(count, family, into, 1));
}

describe('plainFamily', () => {
  it.each<[string, CountryCode, string | undefined]>([
    ['+1 (202) 555-0123', 'DE', '+12025550123'],
    ['(202) 555-0123', 'US', '+12025550123'],
    ['202-555-0123', 'CA', '+12025550123'],
    ['601 123 456', 'CZ', '+420601123456'],
    // What has a prefix, or may have one, or a calling code, or another length.
    ['1 202 555 0123', 'US', undefined],
    ['011 49 30 901820', 'US', undefined],
    ['+1 1202 555 012', 'US', undefined],
    ['555-0123', 'US', undefined],
    ['420 601 123', 'CZ', undefined],
    ['030 901820', 'DE', undefined],
    ['+0 2025550123', 'US', undefined],
    ['+12', 'US', undefined],
  ])('takes %s, in %s, for %s', (cell, country, number) => {
    expect(numberOf(cell, country)).toBe(number);
  });

  it('says nothing else than the general way', () => {
    const digits = fc.string({
      unit: fc.constantFrom(...Array.from('0123456789')),
      minLength: 2,
      maxLength: 18,
    });
    const cells = fc.tuple(fc.constantFrom('', '+', '+1', '+44', '00'), digits);
    fc.assert(
      fc.property(cells, fc.constantFrom(...countryCodes), ([start, rest], country) => {
        const cell = start + rest;
        const number = numberOf(cell, country);
        expect(number ?? sureNumber({ digits: cell }, country)).toBe(
          sureNumber({ digits: cell }, country),
        );
        const count = readPlainDigits(Buffer.from(cell), 0, cell.length);
        expect(plainText(count)).toBe(cell);
        if (mayHaveLostPlus(plainDigits, count)) return;
        expect(lostPlusOf(cell, country)).toBeUndefined();
      }),
      { numRuns: 3000 },
    );
  });
});
