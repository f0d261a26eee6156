import { expect, it } from 'vitest';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { groupNumber } from '../../../src/engine/addresses/address.js';
import { lineHashes } from '../../../src/engine/plan/line-hashes.js';
import { KeyHash } from '../../../src/platform/hashing/key-hash.js';
import { cutEvery } from '../results/export-reading.js';

const seed = new Uint8Array(32).fill(7);

function batchOf(type: 'email' | 'phone', lines: readonly string[], chunkBytes: number): Batch {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  const group = { type, country: 'US' } as const;
  const open = () => cutEvery(bytes, chunkBytes);
  return { id: 0, group, addresses: lines.length, sizeBytes: bytes.length, checksum: 0, open };
}

it.each([
  [
    'email',
    // The long one needs more room than plain ones have.
    ['Ann@x.test', `${'ü'.repeat(100)}@x.test`, 'bob@x.test', 'carl@x.test'],
    ['ann@x.test', `${'ü'.repeat(100)}@x.test`, 'bob@x.test', 'carl@x.test'],
  ],
  ['phone', ['+1 212 555 0100', '(212) 555-0101'], ['+12125550100', '+12125550101']],
] as const)('hashes the key of each %s line, wherever chunks end', async (type, lines, keys) => {
  const hash = new KeyHash(seed);
  const expected = keys.flatMap((key) => {
    hash.hash(groupNumber({ type, country: 'US' }), key);
    return [hash.word0, hash.word1, hash.word2, hash.word3];
  });
  for (const chunkBytes of [1, 7, 10_000]) {
    const words: number[] = [];
    const hashes = lineHashes(batchOf(type, lines, chunkBytes), seed);
    for await (const block of hashes) words.push(...block);
    expect(words).toEqual(expected);
  }
});
