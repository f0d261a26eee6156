import { describe, expect, it } from 'vitest';
import { MemoryStorage } from '../../../src/engine/plan/memory-storage.js';

function read(storage: MemoryStorage, batch: number): string {
  return Buffer.concat([...storage.open(batch)]).toString();
}

describe('MemoryStorage', () => {
  it('gives back the blocks of a batch in their order, as often as asked', () => {
    const storage = new MemoryStorage();
    storage.append(7, Buffer.from('a'));
    storage.append(8, Buffer.from('x'));
    storage.append(7, Buffer.from('b'));
    expect([read(storage, 7), read(storage, 7), read(storage, 8)]).toEqual(['ab', 'ab', 'x']);
  });

  it('has nothing of a batch that it does not know, or dropped', () => {
    const storage = new MemoryStorage();
    storage.append(7, Buffer.from('a'));
    storage.drop(7);
    storage.drop(9);
    expect([read(storage, 7), read(storage, 9)]).toEqual(['', '']);
  });
});
