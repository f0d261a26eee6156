import { expect, it } from 'vitest';
import { AddressBook } from '../../../src/engine/plan/address-book.js';

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
  expect(book.number(0, 'a@x.test')).toBe(0);
  expect(reads).toBeGreaterThan(0);
});
