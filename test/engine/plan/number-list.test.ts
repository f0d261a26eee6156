import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumberList } from '../../../src/engine/plan/number-list.js';

describe('NumberList', () => {
  it('holds unsigned 32-bit numbers', () => {
    const list = new NumberList();
    const numbers = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    for (const number of numbers) list.push(number);
    expect(numbers.map((_, index) => list.at(index))).toEqual(numbers);
    expect(list.length).toBe(5);
  });

  it('grows over the edges of its segments', () => {
    const list = new NumberList();
    const count = 3 * 65_536 + 1;
    for (let index = 0; index < count; index += 1) list.push(index ^ 0x5555);
    for (const index of [0, 65_535, 65_536, 131_071, 131_072, count - 1]) {
      expect(list.at(index)).toBe(index ^ 0x5555);
    }
    list.set(65_536, 7);
    expect(list.at(65_536)).toBe(7);
    expect(list.at(65_535)).toBe(65_535 ^ 0x5555);
  });

  it.each([-1, 2, 3, 65_536, 2 ** 32])('has nothing at %d of two', (index) => {
    const list = new NumberList();
    list.push(1);
    list.push(2);
    expect(() => list.at(index)).toThrow(RangeError);
    expect(() => list.set(index, 1)).toThrow(RangeError);
    expect(list.length).toBe(2);
  });

  it('finds a number from an index on, over the edges of its segments', () => {
    const list = new NumberList();
    for (let index = 0; index < 200_000; index += 1) list.push(index % 70_000 === 5 ? 1 : 0);
    const found: number[] = [];
    for (let at = list.indexOf(1, 0); at !== -1; at = list.indexOf(1, at + 1)) found.push(at);
    expect(found).toEqual([5, 70_005, 140_005]);
    expect(list.indexOf(1, 65_530)).toBe(70_005);
    expect(list.indexOf(0, 200_000)).toBe(-1);
    expect(list.indexOf(0, 1_000_000)).toBe(-1);
  });

  it('finds all indexes of a number, over the edges of its segments', () => {
    const list = new NumberList();
    const indexes: number[] = [];
    for (let index = 0; index < 200_000; index += 1) {
      const isWanted = index % 3 === 1 || (index > 65_000 && index < 66_000) || index === 199_999;
      if (isWanted) indexes.push(index);
      list.push(isWanted ? 0x8000_0007 : 0x8000_0006);
    }
    const all = Array.from(list.indexesOf(0x8000_0007, 200_000));
    expect(all).toEqual(indexes);
    expect(Array.from(list.indexesOf(0x8000_0007, 22_000))).toEqual(indexes.slice(0, 22_000));
    expect(Array.from(list.indexesOf(0x8000_0007, indexes.length))).toEqual(indexes);
    expect(list.indexesOf(5, 10)).toHaveLength(0);
    expect(list.indexesOf(0x8000_0006, 0)).toHaveLength(0);
  });

  it('is what an array is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.nat(50), fc.integer({ min: 0, max: 2 ** 32 - 1 }))),
        (steps) => {
          const list = new NumberList();
          const model: number[] = [];
          for (const [isPush, index, value] of steps) {
            if (isPush || index >= model.length) {
              list.push(value);
              model.push(value);
            } else {
              list.set(index, value);
              model[index] = value;
            }
          }
          expect(model.map((_, index) => list.at(index))).toEqual(model);
          expect(list.length).toBe(model.length);
        },
      ),
    );
  });
});
