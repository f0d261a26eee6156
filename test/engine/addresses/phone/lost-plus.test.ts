import { describe, expect, it } from 'vitest';
import { lostPlus } from '../../../../src/engine/addresses/phone/lost-plus.js';
import { invalidText } from '../../../../src/lists/rows/chunks/row-chunk.js';

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
    expect(lostPlus(cell, country)).toBe(kind);
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
    expect(lostPlus(cell, country)).toBeUndefined();
  });

  it('is seen in every number with its calling code where no plan of the country is known', () => {
    expect(lostPlus('447400123456', 'GS')).toBe('mobile');
  });
});
