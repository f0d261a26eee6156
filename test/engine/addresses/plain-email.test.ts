import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emailLine } from '../../../src/engine/addresses/email-line.js';
import { plainKeyBytes, writePlainKey } from '../../../src/engine/addresses/plain-email.js';
import { unicodeText } from '../../platform/text/unicode-text.js';

function plainKey(cell: string): string | undefined {
  const bytes = Buffer.from(`,${cell},`);
  const into = new Uint8Array(plainKeyBytes);
  const end = bytes.length - 1;
  if (!writePlainKey(bytes, 1, end, into)) return undefined;
  return Buffer.from(into.subarray(0, end - 1)).toString();
}

describe('writePlainKey', () => {
  it('puts visible ASCII into lower case', () => {
    expect(plainKey("Ann.O'Hara+List@Example.COM")).toBe("ann.o'hara+list@example.com");
    expect(plainKey('a'.repeat(254))).toBe('a'.repeat(254));
  });

  it.each([
    '',
    'a b@x.test',
    'a,b@x.test',
    '"a"@x.test',
    'ä@x.test',
    'a\t@x.test',
    'a'.repeat(255),
  ])('leaves %j to the general way', (cell) => {
    expect(plainKey(cell)).toBeUndefined();
  });

  it('comes to what the general way comes to', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          unicodeText({ maxLength: 12 }),
          fc.string({ unit: 'grapheme-ascii', maxLength: 260 }),
          fc.emailAddress(),
        ),
        (cell) => {
          const key = plainKey(cell);
          if (key !== undefined) expect(emailLine(cell)).toEqual({ line: cell, key });
        },
      ),
      { numRuns: 600 },
    );
  });
});
