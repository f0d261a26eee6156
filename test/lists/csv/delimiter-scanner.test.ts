import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ByteDelimiterScanner,
  KernelDelimiterScanner,
  delimiterScanner,
} from '../../../src/lists/csv/delimiter-scanner.js';

const finders = [new KernelDelimiterScanner(), new ByteDelimiterScanner()] as const;
const comma = 0x2c;

describe.each(finders)('%#', (finder) => {
  it('finds delimiters, quotes and line feeds, counted from where it begins', () => {
    const bytes = Buffer.from('x,a"b\n\r;,y');
    expect([...finder.find(bytes, 2, 9, comma)]).toEqual([1, 3, 6]);
    expect([...finder.find(bytes, 2, 9, 0x3b)]).toEqual([1, 3, 5]);
    expect([...finder.find(bytes, 0, 1, comma)]).toEqual([]);
    expect([...finder.find(bytes, 4, 4, comma)]).toEqual([]);
  });

  it('takes pieces of any size, one after another', () => {
    for (const size of [1, 15, 16, 17, 70_000, 3, 1_000_000, 64]) {
      const bytes = Buffer.alloc(size, ',');
      const stops = finder.find(bytes, 0, size, comma);
      expect(stops.length).toBe(size);
      expect(stops.at(-1)).toBe(size - 1);
    }
  });
});

describe('the kernel', () => {
  it('finds what a loop over the bytes finds', () => {
    const [kernel, loop] = finders;
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100 }).map((bytes) => bytes.map((byte) => byte % 64)),
        fc.nat(20),
        fc.nat(20),
        fc.integer({ min: 1, max: 63 }),
        (bytes, skipped, left, delimiter) => {
          const from = Math.min(skipped, bytes.length);
          const to = Math.max(from, bytes.length - left);
          const found = [...kernel.find(bytes, from, to, delimiter)];
          expect(found).toEqual([...loop.find(bytes, from, to, delimiter)]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is what readers use here', () => {
    expect(delimiterScanner()).toBeInstanceOf(KernelDelimiterScanner);
  });
});
