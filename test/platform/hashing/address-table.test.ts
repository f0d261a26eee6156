import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressTable, unnumbered } from '../../../src/platform/hashing/address-table.js';

const seed = Uint8Array.from({ length: 32 }, (_, i) => 37 * i + 11);

describe('AddressTable', () => {
  it('numbers addresses in the order of their first coming', () => {
    const table = new AddressTable({ seed });
    expect(table.size).toBe(0);
    expect(table.find(0, 'a')).toBe(-1);
    expect(table.add(0, 'a')).toBe(0);
    expect(table.add(0, 'b')).toBe(1);
    expect(table.add(1, 'a')).toBe(2);
    expect(table.add(0, 'a')).toBe(0);
    expect(table.size).toBe(3);
    expect(table.find(1, 'a')).toBe(2);
    expect(table.find(1, 'b')).toBe(-1);
  });

  it('gives a shard away, whose addresses fill another without a growth, in the order of its slots', () => {
    const [table, other] = [new AddressTable({ seed }), new AddressTable({ seed })];
    for (let index = 0; index < 200_000; index += 1) table.add(0, String(index));
    const shard = 5;
    const slots = table.takeShard(shard);
    const taken = Array.from({ length: slots.length / 4 }, (_, at) =>
      slots.subarray(4 * at, 4 * at + 4),
    ).filter(([, , , entry]) => entry !== 0);
    other.reserve(shard, taken.length);
    const { byteSize } = other;
    const numbers = taken.map(([word0 = 0, word1 = 0, word2 = 0]) =>
      other.addHashed({ word0, word1, word2, word3: shard }),
    );
    expect(numbers).toEqual(Array.from(taken, (_, number) => number));
    expect(taken.length).toBeGreaterThan(1000);
    expect(other.byteSize).toBe(byteSize);
    // Whose shard is gone has no number here.
    const entries = taken.map(([, , , entry = 0]) => String(entry - 1));
    expect(entries.map((key) => table.add(0, key))).toEqual(entries.map(() => unnumbered));
    expect(table.size).toBe(200_000);
  });

  it('hands addresses over so that those which came first lie everywhere in another table', () => {
    const table = new AddressTable({ seed });
    for (let index = 0; index < 200_000; index += 1) table.add(0, String(index));
    const [inShard, numbers]: [number[], Set<number>] = [[], new Set()];
    table.forEach(({ word0, word3 }, number) => {
      numbers.add(number);
      if (word3 === 5) inShard.push(word0 >>> 0);
    });
    expect(numbers.size).toBe(200_000);
    // A few at the beginning, and any share of the rest, are spread over all hashes.
    for (const first of [16, 100, Math.floor(inShard.length / 3)]) {
      const quarters = [0, 0, 0, 0];
      for (const hash of inShard.slice(0, first)) {
        const quarter = Math.floor(hash / 2 ** 30);
        quarters[quarter] = (quarters[quarter] ?? 0) + 1;
      }
      expect(Math.max(...quarters)).toBeLessThan(first / 2);
    }
  });

  it('takes any text as a key', () => {
    const table = new AddressTable({ seed });
    const keys = ['', '__proto__', 'constructor', '\u0000', '😀', 'é', 'e\u0301', 'x'.repeat(5000)];
    for (const [number, key] of keys.entries()) expect(table.add(0, key)).toBe(number);
    for (const [number, key] of keys.entries()) expect(table.find(0, key)).toBe(number);
  });

  it('does as a Map does, through any order of adds and finds', () => {
    const operation = fc.record({
      isAdd: fc.boolean(),
      group: fc.nat(3),
      key: fc.oneof(fc.nat(500).map(String), fc.string({ unit: 'grapheme', maxLength: 6 })),
    });
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.array(operation, { maxLength: 3000, size: 'max' }),
        (seed, operations) => {
          const table = new AddressTable({ seed });
          const numbers = new Map<string, number>();
          for (const { isAdd, group, key } of operations) {
            const name = `${group}/${key}`;
            const known = numbers.get(name);
            assert.equal(table.find(group, key), known ?? -1);
            if (!isAdd) continue;
            assert.equal(table.add(group, key), known ?? numbers.size);
            if (known === undefined) numbers.set(name, numbers.size);
            assert.equal(table.size, numbers.size);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it('keeps every number through all growths, within 23 bytes an address of a large list', () => {
    const table = new AddressTable({ seed });
    const count = 2_300_000;
    const most = { small: 0, large: 0 };
    let wrong = 0;
    for (let i = 0; i < count; i += 1) {
      if (table.add(i % 3, `user.${i}@example.com`) !== i) wrong += 1;
      if (i < 100_000 || i % 5000 !== 0) continue;
      const size = i < 2_000_000 ? 'small' : 'large';
      most[size] = Math.max(most[size], table.byteSize / table.size);
    }
    expect(table.size).toBe(count);
    expect(most.large).toBeGreaterThan(16);
    expect(most.large).toBeLessThanOrEqual(23);
    expect(most.small).toBeLessThanOrEqual(41);
    for (let i = 0; i < count; i += 7) {
      const key = `user.${i}@example.com`;
      if (table.find(i % 3, key) !== i || table.find(3, key) !== -1) wrong += 1;
    }
    expect(wrong).toBe(0);
    // Seconds of nothing but work, which a busy machine has to share.
  }, 120_000);
});
