import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyEdit, base, change, read, reference, retold } from './changed-export.js';

describe('an export with bytes changed at random', () => {
  it('is read or refused as JSON.parse would, whichever byte gives way to whichever sign', async () => {
    const alike = base.subarray(0, base.indexOf(',"d"'));
    for (let place = 0; place < alike.length; place += 1) {
      for (const byte of Buffer.from('"\\{}[],:; 0e\n\u0000')) {
        const bytes = Buffer.concat([alike, Buffer.from('}')]);
        bytes[place] = byte;
        expect(retold(await read(bytes, bytes.length), reference(bytes))).toEqual(reference(bytes));
      }
    }
  });

  it('is read alike by both ways through, and as JSON.parse reads it', async () => {
    const seen = { legal: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(anyEdit, { minLength: 1, maxLength: 2 }), async (edits) => {
        const bytes = change(edits);
        const whole = await read(bytes, bytes.length);
        // Byte by byte no record is ever plain and whole in its chunk.
        const [some, single] = [await read(bytes, 25), await read(bytes, 1)];
        const told = reference(bytes);
        expect(retold(whole, told)).toEqual(told);
        const isRefused = typeof whole === 'string';
        expect(isRefused ? typeof some : some).toEqual(isRefused ? 'string' : whole);
        expect(isRefused ? typeof single : single).toEqual(isRefused ? 'string' : whole);
        seen[isRefused ? 'refused' : 'legal'] += 1;
      }),
      { numRuns: 1000 },
    );
    expect(seen.legal).toBeGreaterThan(50);
    expect(seen.refused).toBeGreaterThan(50);
  });
});
