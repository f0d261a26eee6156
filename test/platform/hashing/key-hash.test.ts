import { describe, expect, it } from 'vitest';
import { KeyHash } from '../../../src/platform/hashing/key-hash.js';

function seedOf(...words: number[]): Uint8Array {
  const seed = new DataView(new ArrayBuffer(32));
  for (const [i, word] of words.entries()) seed.setUint32(4 * i, word, true);
  return new Uint8Array(seed.buffer);
}

const someSeed = seedOf(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0);

function hashOf(hash: KeyHash, group: number, key: string): number[] {
  hash.hash(group, key);
  return [hash.word0, hash.word1, hash.word2, hash.word3].map((word) => word >>> 0);
}

function bitsOf(word: number): number {
  let bits = 0;
  for (let rest = word >>> 0; rest !== 0; rest >>>= 1) bits += rest & 1;
  return bits;
}

describe('KeyHash', () => {
  // Published vectors of Chaskey: the message of n bytes is 0, 1, 2, …; ours begins with the batch group.
  it.each([
    [4, 0x30b2d171, 0xe38532fb, 0x16707c16, 0x73ed45f0],
    [5, 0xbc983d0c, 0x31b14064, 0x234cd7a2, 0x0c92bbf9],
    [15, 0x51b94da4, 0xefcc4de8, 0x192412ea, 0xbbc170dd],
    [16, 0x79271ca9, 0xd66a1c71, 0x81ca474e, 0x49831cad],
    [17, 0x048da968, 0x4e25d096, 0x2d6cf897, 0xbc3959ca],
    [32, 0x60b3f7af, 0x37eee7c8, 0x836cfd98, 0x782ca060],
    [63, 0x9047fad7, 0x88136d8c, 0xa488286b, 0x7fe9352c],
  ])('is Chaskey for a message of %i bytes', (length, ...words) => {
    const hash = new KeyHash(seedOf(0x833d3433, 0x009f389f, 0x2398e64f, 0x417acf39));
    const key = String.fromCharCode(...Array.from({ length: length - 4 }, (_, i) => i + 4));
    expect(hashOf(hash, 0x03020100, key)).toEqual(words);
  });

  it('changes about half of its bits with any bit of batch group, key or seed', () => {
    const hash = new KeyHash(someSeed);
    let flips = 0;
    let changed = 0;
    const compare = (one: number[], other: number[]) => {
      const words = one.map((word, i) => bitsOf(word ^ (other[i] ?? 0)));
      for (const bits of words) expect(bits).toBeGreaterThan(0);
      flips += 1;
      changed += words.reduce((sum, bits) => sum + bits, 0);
    };
    for (const key of ['a@b.c', 'someone.else@example.com', 'x'.repeat(100)]) {
      const plain = hashOf(hash, 7, key);
      for (let bit = 0; bit < 32; bit += 1) compare(plain, hashOf(hash, 7 ^ (1 << bit), key));
      for (let at = 0; at < key.length; at += 1) {
        for (let bit = 0; bit < 7; bit += 1) {
          const flipped = String.fromCharCode(key.charCodeAt(at) ^ (1 << bit));
          compare(plain, hashOf(hash, 7, key.slice(0, at) + flipped + key.slice(at + 1)));
        }
      }
      for (let bit = 0; bit < 256; bit += 1) {
        const seed = Uint8Array.from(someSeed);
        seed.set([(seed[bit >>> 3] ?? 0) ^ (1 << (bit & 7))], bit >>> 3);
        compare(plain, hashOf(new KeyHash(seed), 7, key));
      }
    }
    expect(Math.abs(changed / flips - 64)).toBeLessThan(1);
  });

  it('gives half a million keys different values even in each half', () => {
    const hash = new KeyHash(someSeed);
    const count = 500_000;
    const halves = [0, 1].map(() => new Uint32Array(2 * count));
    for (let i = 0; i < count; i += 1) {
      hash.hash(i & 1, `user.${i >>> 1}@example.com`);
      halves[0]?.set([hash.word0, hash.word1], 2 * i);
      halves[1]?.set([hash.word2, hash.word3], 2 * i);
    }
    for (const half of halves) {
      const sorted = new BigUint64Array(half.buffer).toSorted();
      let equal = 0;
      for (let i = 1; i < count; i += 1) if (sorted[i] === sorted[i - 1]) equal += 1;
      expect(equal).toBe(0);
    }
  });

  it('tells keys apart by length, batch group, and text beyond ASCII', () => {
    const hash = new KeyHash(someSeed);
    const keys = ['', '\u0000', '\u0001', '\u0000\u0000', 'e\u0301', '\u00c3\u00a9', '😀', 'a'];
    for (let length = 1; length < 70; length += 1)
      keys.push('b'.repeat(length), 'é'.repeat(length));
    const seen = new Set<string>();
    for (const group of [0, 1, 2, 0xffff_ffff]) {
      for (const key of keys) seen.add(hashOf(hash, group, key).join());
    }
    expect(seen.size).toBe(4 * keys.length);
  });

  it('hashes keys of any length, whatever it hashed before', () => {
    const lengths = [1, 3000, 10, 100_000, 0, 255, 256, 257];
    const used = new KeyHash(someSeed);
    for (const letter of ['x', '€']) {
      for (const length of lengths) {
        const key = letter.repeat(length);
        expect(hashOf(used, 3, key)).toEqual(hashOf(new KeyHash(someSeed), 3, key));
      }
    }
  });

  it('reads its seed from any part of a buffer, and refuses one of another size', () => {
    const buffer = new Uint8Array(50);
    buffer.set(someSeed, 7);
    const moved = new KeyHash(buffer.subarray(7, 39));
    expect(hashOf(moved, 1, 'a')).toEqual(hashOf(new KeyHash(someSeed), 1, 'a'));
    expect(() => new KeyHash(new Uint8Array(16))).toThrow(RangeError);
  });
});
