import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyMaker, keyBytes, KeyTable } from '../../../src/service/storage/key-table.js';

describe('a table of keys', () => {
  it('says what a Map says, also for keys that fall on one place', () => {
    // Few distinct bytes: many keys meet in their first word, where places are taken from.
    const key = fc
      .array(fc.constantFrom(0, 1, 255), { minLength: keyBytes, maxLength: keyBytes })
      .map((bytes) => Uint8Array.from(bytes));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(key, fc.nat({ max: 65_534 })), { maxLength: 300 }),
        (entries) => {
          const table = new KeyTable();
          const map = new Map<string, number>();
          for (const [bytes, value] of entries) {
            const name = bytes.join();
            expect(table.get(bytes, 0)).toBe(map.get(name));
            expect(table.add(bytes, 0, value)).toBe(!map.has(name));
            map.set(name, Math.max(value, map.get(name) ?? 0));
            expect(table.get(bytes, 0)).toBe(map.get(name));
          }
          expect(table.size).toBe(map.size);
          table.reserve(5000);
          const keys = Buffer.concat(entries.map(([bytes]) => bytes));
          const found = new Uint32Array(entries.length);
          table.getAll(keys, found);
          expect(Array.from(found)).toEqual(
            entries.map(([bytes]) => (map.get(bytes.join()) ?? -1) + 1),
          );
          expect(table.size).toBe(map.size);
        },
      ),
    );
  });

  it('finds 100,000 addresses again and no other', () => {
    const maker = createKeyMaker('salt', 'email');
    const table = new KeyTable();
    const keys = Buffer.alloc(keyBytes * 100_000);
    for (let at = 0; at < 100_000; at += 1) maker.write(`user${at}@x.example`, keys, at * keyBytes);
    table.addAll(keys, 7);
    expect(table.size).toBe(100_000);
    const other = Buffer.alloc(keyBytes);
    for (let at = 0; at < 100_000; at += 1) {
      if (table.get(keys, at * keyBytes) !== 7) throw new Error(`key ${at} is lost`);
      maker.write(`other${at}@x.example`, other, 0);
      if (table.get(other, 0) !== undefined) throw new Error(`key ${at} is made up`);
    }
  });
});
