import { describe, expect, it } from 'vitest';
import { AddressBook, pending, settledTicket } from '../../../src/engine/plan/address-book.js';

/** A book whose addresses of `keys` wait for these batches. */
function bookOf(batches: readonly number[], keys = batches.map((_, index) => `key-${index}`)) {
  const book = new AddressBook({ seed: new Uint8Array(32).fill(7) });
  batches.forEach((batch, index) => {
    const number = book.number(0, keys[index] ?? '');
    if (number === book.size) book.assign(batch);
  });
  return book;
}

describe('AddressBook', () => {
  it('numbers addresses in the order of their first coming', () => {
    const book = new AddressBook({ seed: new Uint8Array(32) });
    const numbers = ['a', 'b', 'a', 'c', 'b'].map((key) => {
      const isNew = book.size;
      const number = book.number(0, key);
      if (number === isNew) book.assign(0);
      return number;
    });
    expect(numbers).toEqual([0, 1, 0, 2, 1]);
    expect(book.size).toBe(3);
  });

  it('tells the same address of two batch groups apart', () => {
    const book = new AddressBook({ seed: new Uint8Array(32) });
    expect([book.number(0, 'a'), book.number(1, 'a'), book.number(0, 'a')]).toEqual([0, 1, 0]);
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
