import { describe, expect, test } from 'vitest';
import { AddressBook, settledTicket } from '../../../src/engine/plan/address-book.js';
import { RowQueue } from '../../../src/engine/streams/row-queue.js';
import { ObjectChunk } from '../../../src/lists/rows/chunks/object-chunk.js';

/** A book of addresses that wait for batch 0, one after another. */
function createBook(addresses: number): AddressBook {
  const book = new AddressBook({ seed: new Uint8Array(32) });
  for (let index = 0; index < addresses; index += 1) {
    book.table.add(0, `a${index}`);
    book.assign(0);
  }
  return book;
}

function chunkOf(rows: number): ObjectChunk {
  return new ObjectChunk(
    Array.from({ length: rows }, () => ({})),
    [],
  );
}

function takeAll(queue: RowQueue): [number, number, number[]][] {
  const taken: [number, number, number[]][] = [];
  for (let joined = queue.take(); joined; joined = queue.take()) {
    taken.push([joined.from, joined.to, [...joined.outcomes]]);
  }
  return taken;
}

describe('rows in the queue', () => {
  test('leave when all before them and they themselves are settled', () => {
    const book = createBook(3);
    const queue = new RowQueue(book, 1);
    queue.add(chunkOf(4), Uint32Array.of(0, 1, settledTicket(9), 2));
    expect(queue.take()).toBeUndefined();
    book.resolve(1, 0, 5);
    expect(queue.take()).toBeUndefined();
    book.resolve(0, 0, 4);
    expect(takeAll(queue)).toEqual([[0, 3, [4, 5, 9]]]);
    expect(queue.isEmpty).toBe(false);
    book.settle(0, 7);
    expect(takeAll(queue)).toEqual([[3, 4, [7]]]);
    expect(queue.isEmpty).toBe(true);
  });

  test('wait for all of their columns', () => {
    const book = createBook(2);
    const queue = new RowQueue(book, 2);
    queue.add(chunkOf(2), Uint32Array.of(0, settledTicket(3), settledTicket(3), 1));
    book.resolve(0, 0, 1);
    expect(takeAll(queue)).toEqual([[0, 1, [1, 3]]]);
    book.resolve(1, 0, 2);
    expect(takeAll(queue)).toEqual([[1, 2, [3, 2]]]);
  });

  test('leave in stretches of at most 256, never of two chunks', () => {
    const queue = new RowQueue(createBook(0), 1);
    const settled = (rows: number): Uint32Array => new Uint32Array(rows).fill(settledTicket(1));
    queue.add(chunkOf(600), settled(600));
    queue.add(chunkOf(0), settled(0));
    queue.add(chunkOf(10), settled(10));
    expect(takeAll(queue).map(([from, to]) => [from, to])).toEqual([
      [0, 256],
      [256, 512],
      [512, 600],
      [0, 10],
    ]);
  });

  test('keep their outcomes when more rows are taken', () => {
    const queue = new RowQueue(createBook(0), 1);
    queue.add(chunkOf(1), Uint32Array.of(settledTicket(1)));
    queue.add(chunkOf(1), Uint32Array.of(settledTicket(2)));
    const first = queue.take();
    const second = queue.take();
    expect([first?.outcomes[0], second?.outcomes[0]]).toEqual([1, 2]);
  });

  test('come in the order in which they were added, however many chunks', () => {
    const queue = new RowQueue(createBook(0), 1);
    let next = 0;
    for (let index = 0; index < 5000; index += 1) {
      queue.add(chunkOf(1), Uint32Array.of(settledTicket(index)));
      if (index % 3 !== 0) continue;
      expect(queue.take()?.outcomes[0]).toBe(next);
      next += 1;
    }
    for (let joined = queue.take(); joined; joined = queue.take()) {
      expect(joined.outcomes[0]).toBe(next);
      next += 1;
    }
    expect(next).toBe(5000);
  });
});
