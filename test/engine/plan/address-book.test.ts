import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AddressBook,
  NumberList,
  pending,
  settledTicket,
} from '../../../src/engine/plan/address-book.js';

/** A book whose addresses of `keys` wait for these batches. */
function bookOf(batches: readonly number[], keys = batches.map((_, index) => `key-${index}`)) {
  const book = new AddressBook({ seed: new Uint8Array(32).fill(7) });
  batches.forEach((batch, index) => {
    const number = book.table.add(0, keys[index] ?? '');
    if (number === book.size) book.assign(batch);
  });
  return book;
}

describe('AddressBook', () => {
  it('numbers addresses in the order of their first coming', () => {
    const book = new AddressBook({ seed: new Uint8Array(32) });
    const numbers = ['a', 'b', 'a', 'c', 'b'].map((key) => {
      const isNew = book.size;
      const number = book.table.add(0, key);
      if (number === isNew) book.assign(0);
      return number;
    });
    expect(numbers).toEqual([0, 1, 0, 2, 1]);
    expect(book.size).toBe(3);
  });

  it('tells the same address of two batch groups apart', () => {
    const book = new AddressBook({ seed: new Uint8Array(32) });
    expect([book.table.add(0, 'a'), book.table.add(1, 'a'), book.table.add(0, 'a')]).toEqual([
      0, 1, 0,
    ]);
  });

  it('has every address wait for its batch', () => {
    const book = bookOf([0, 1, 0]);
    expect([0, 1, 2].map((ticket) => book.outcome(ticket))).toEqual([pending, pending, pending]);
    expect(book.findWaiting(0, 'key-0', 0)).toBe(0);
    expect(book.findWaiting(0, 'key-1', 1)).toBe(1);
    expect(book.findWaiting(0, 'key-1', 0)).toBe(-1);
    expect(book.findWaiting(1, 'key-0', 0)).toBe(-1);
    expect(book.findWaiting(0, 'other', 0)).toBe(-1);
  });

  it('knows the addresses of each batch, beside those of others and with the last ones told', () => {
    const book = bookOf([0, 1, 0, 0, 2, 1, 2, 2, 3, 1]);
    book.resolve(3, 0, 5);
    expect([0, 1, 2, 3].map((batch) => Array.from(book.allWaiting(batch, 3)))).toEqual([
      [0, 2],
      [1, 5, 9],
      [4, 6, 7],
      [8],
    ]);
  });

  it('gives resolved addresses their own outcome, and the others that of their batch', () => {
    const book = bookOf([0, 1, 0]);
    expect(book.resolve(2, 0, 5)).toBe(true);
    expect([0, 1, 2].map((ticket) => book.outcome(ticket))).toEqual([pending, pending, 5]);
    book.settle(0, 9);
    expect([0, 1, 2].map((ticket) => book.outcome(ticket))).toEqual([9, pending, 5]);
    book.settle(1, 0);
    expect([0, 1, 2].map((ticket) => book.outcome(ticket))).toEqual([9, 0, 5]);
    expect(book.findWaiting(0, 'key-2', 0)).toBe(-1);
  });

  it('gives no outcome to an address that waits for another batch, has one, or never came', () => {
    const book = bookOf([0, 1]);
    expect(book.resolve(0, 0, 4)).toBe(true);
    expect([book.resolve(1, 0, 5), book.resolve(0, 0, 5), book.resolve(2, 0, 5)]).toEqual([
      false,
      false,
      false,
    ]);
    expect([book.outcome(0), book.outcome(1)]).toEqual([4, pending]);
  });

  it('knows which batches are settled', () => {
    const book = bookOf([0, 1]);
    expect([book.isSettled(0), book.isSettled(1)]).toEqual([false, false]);
    book.settle(1, 0);
    expect([book.isSettled(0), book.isSettled(1)]).toEqual([false, true]);
  });

  it('reads a settled ticket as the outcome itself', () => {
    const book = bookOf([]);
    for (const outcome of [0, 1, 1000, 0x7fff_ffff]) {
      expect(settledTicket(outcome)).toBeGreaterThanOrEqual(0x8000_0000);
      expect(book.outcome(settledTicket(outcome))).toBe(outcome);
    }
  });

  it('keeps tickets in 32 bits without a sign', () => {
    const tickets = Uint32Array.of(settledTicket(3), 4);
    const book = bookOf([0, 0, 0, 0, 0]);
    book.resolve(4, 0, 6);
    expect([...tickets].map((ticket) => book.outcome(ticket))).toEqual([3, 6]);
  });

  it('refuses tickets that it never gave', () => {
    expect(() => bookOf([0]).outcome(1)).toThrow(RangeError);
  });
});

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
    const later = indexes.filter((index) => index >= 70_000);
    expect(Array.from(list.indexesOf(0x8000_0007, later.length, 70_000))).toEqual(later);
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

it('hashes with the seed of its run: what collides cannot be prepared', () => {
  let reads = 0;
  class WatchedSeed extends Uint8Array<ArrayBuffer> {
    override get buffer(): ArrayBuffer {
      reads += 1;
      return super.buffer;
    }
  }
  // Which numbers addresses get says nothing of the hash: that its bytes are looked at does.
  const book = new AddressBook({ seed: new WatchedSeed(new ArrayBuffer(32)) });
  expect(book.table.add(0, 'a@x.test')).toBe(0);
  expect(reads).toBeGreaterThan(0);
});
