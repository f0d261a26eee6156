import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { halveBatch } from '../../../src/engine/batches/halve-batch.js';
import { cutEvery } from '../results/export-reading.js';

function batchOf(lines: readonly string[], chunkBytes = 1 << 20): Batch {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  return {
    id: 3,
    group: { type: 'email', country: 'US' },
    addresses: lines.length,
    sizeBytes: bytes.length,
    checksum: crc32(bytes),
    open: () => cutEvery(bytes, chunkBytes),
  };
}

async function linesOf(batch: Batch): Promise<readonly string[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of batch.open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString().split('\n').slice(0, -1);
}

/** All parts of one line each. */
async function splitToLines(batch: Batch): Promise<readonly Batch[]> {
  if (batch.addresses === 1) return [batch];
  const parts: Batch[] = [];
  for (const half of await halveBatch(batch)) parts.push(...(await splitToLines(half)));
  return parts;
}

const anyLine = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .filter((line) => !line.includes('\n'));

describe('halveBatch', () => {
  it('makes two batches of the batch group and the number, the first with the odd line', async () => {
    const [first, second] = await halveBatch(batchOf(['a', 'bb', 'ccc', 'd', 'e']));
    const shared = { id: 3, group: { type: 'email', country: 'US' } };
    expect(first).toMatchObject({
      ...shared,
      addresses: 3,
      sizeBytes: 9,
      part: { start: 0, of: 5 },
    });
    expect(second).toMatchObject({
      ...shared,
      addresses: 2,
      sizeBytes: 4,
      part: { start: 3, of: 5 },
    });
    expect(await linesOf(first)).toEqual(['a', 'bb', 'ccc']);
    expect(await linesOf(second)).toEqual(['d', 'e']);
  });

  it('loses no byte and tells size and checksum, however the file comes in chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyLine, { minLength: 2, maxLength: 30 }),
        fc.integer({ min: 1, max: 40 }),
        async (lines, chunkBytes) => {
          const parts = await halveBatch(batchOf(lines, chunkBytes));
          const found = await Promise.all(parts.map(linesOf));
          expect(found.flat()).toEqual(lines);
          for (const [index, part] of parts.entries()) {
            const bytes = Buffer.from((found[index] ?? []).map((line) => `${line}\n`).join(''));
            expect(part.addresses).toBe(found[index]?.length);
            expect([part.sizeBytes, part.checksum]).toEqual([bytes.length, crc32(bytes)]);
          }
        },
      ),
    );
  });

  it('goes on to single lines, each with its place in the whole', async () => {
    const lines = Array.from({ length: 21 }, (_, index) => `line ${index}`);
    const parts = await splitToLines(batchOf(lines, 5));
    expect((await Promise.all(parts.map(linesOf))).flat()).toEqual(lines);
    expect(parts.map(({ part }) => part)).toEqual(
      lines.map((_, index) => ({ start: index, of: lines.length })),
    );
  });

  it('gives the parts as often as asked, and reads no further than it must', async () => {
    let read = 0;
    const lines = Array.from({ length: 100 }, () => 'ten bytes');
    const batch = batchOf(lines);
    const counted: Batch = {
      ...batch,
      async *open() {
        for (const line of lines) {
          read += 1;
          yield Buffer.from(`${line}\n`);
        }
      },
    };
    const [first, second] = await halveBatch(counted);
    read = 0;
    expect(await linesOf(first)).toHaveLength(50);
    expect(read).toBe(50);
    expect(await linesOf(first)).toEqual(await linesOf(second));
  });
});
