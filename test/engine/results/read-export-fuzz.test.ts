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

  // test/fuzz/ reads exports with such edits in every way.
  it('is still legal often enough, and broken often enough', () => {
    const edited = fc.sample(fc.array(anyEdit, { minLength: 1, maxLength: 3 }), 2000);
    const refused = edited.filter((edits) => reference(change(edits)) === 'refused');
    expect(refused.length).toBeGreaterThan(50);
    expect(edited.length - refused.length).toBeGreaterThan(50);
  });
});
