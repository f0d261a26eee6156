import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keyBytes } from '../../../src/service/storage/key-table.js';
import { VerifiedDays } from '../../../src/service/storage/result-caches.js';

const owners = ['anna', 'bert', 'carl'];

const note = fc.record({
  keys: fc.array(fc.nat({ max: 4 }), { maxLength: 5 }),
  owner: fc.constantFrom(...owners, undefined),
  isShared: fc.boolean(),
  day: fc.constantFrom(0, 1, 2, 20_000, 65_534),
});

it('tells the latest day of each owner and of the global cache, whoever came before', () => {
  fc.assert(
    fc.property(fc.array(note, { maxLength: 30 }), (notes) => {
      const days = new VerifiedDays();
      const expected = new Map<string, number>();
      const noteDay = (owner: string | undefined, key: number, day: number): void => {
        const name = `${String(owner)} ${key}`;
        expected.set(name, Math.max(day + 1, expected.get(name) ?? 0));
      };
      for (const { keys, owner, day, ...more } of notes) {
        // What is nobody's is everybody's.
        const isShared = more.isShared || owner === undefined;
        days.note(bytesOf(keys), { ...(owner === undefined ? {} : { owner }), isShared, day });
        for (const key of keys) {
          if (owner !== undefined) noteDay(owner, key, day);
          if (isShared) noteDay(undefined, key, day);
        }
      }
      const all = [0, 1, 2, 3, 4];
      const expectedOf = (owner: string | undefined) =>
        Uint16Array.from(all, (key) => expected.get(`${String(owner)} ${key}`) ?? 0);
      for (const owner of [...owners, 'dora']) {
        const found = days.daysAfter(bytesOf(all), owner);
        assert.deepEqual(found, { own: expectedOf(owner), shared: expectedOf(undefined) });
      }
    }),
    { numRuns: 2000 },
  );
});

it('knows owners beyond those that a claim can number', () => {
  const days = new VerifiedDays();
  for (let owner = 0; owner < 8200; owner += 1) {
    days.note(bytesOf([owner]), { owner: `owner ${owner}`, isShared: owner % 2 === 0, day: 7 });
  }
  const found = days.daysAfter(bytesOf([8198, 8199, 3]), 'owner 8199');
  expect(found).toEqual({ own: Uint16Array.of(0, 8, 0), shared: Uint16Array.of(8, 0, 0) });
  expect(days.has('owner 8199')).toBe(true);
});

function bytesOf(keys: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(keys.length * keyBytes);
  for (const [index, key] of keys.entries()) bytes.writeUInt32LE(key, index * keyBytes);
  return bytes;
}
