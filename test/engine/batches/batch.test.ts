import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Batch,
  batchName,
  halveBatch,
  parseBatchName,
} from '../../../src/engine/batches/batch.js';
import { cutEvery } from '../results/export-reading.js';

const upload = { runId: '0123456789abcdef', batch: { id: 6, addresses: 9 }, attempt: 2 };
const unique = '0123456789abcdef-000007-2';
const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

describe('batchName', () => {
  it('is the prefix and what is unique to the upload', () => {
    expect(batchName('sluice', upload)).toBe(`sluice-${unique}`);
  });

  it('tells uploads, batches and runs apart', () => {
    const names = new Set<string>();
    for (const runId of ['aaaa', 'bbbb'])
      for (const batch of [0, 1, 10, 999_999, 1_000_000])
        for (const part of [undefined, { start: 0, of: 9 }, { start: 4, of: 9 }])
          for (const attempt of [1, 2, 11]) {
            names.add(batchName('p', { runId, batch: { id: batch, addresses: 4, part }, attempt }));
          }
    expect(names.size).toBe(90);
  });

  it('says which lines a part of a batch has', () => {
    const part = { id: 6, addresses: 4, part: { start: 5, of: 9 } };
    expect(batchName('sluice', { ...upload, batch: part })).toBe(
      'sluice-0123456789abcdef-000007.6-9-2',
    );
  });

  it('cuts the prefix where the whole would pass 255 characters, and never the rest', () => {
    const room = 255 - unique.length - 1;
    expect(batchName('p'.repeat(room), upload)).toBe(`${'p'.repeat(room)}-${unique}`);
    expect(batchName('p'.repeat(room + 1), upload)).toBe(`${'p'.repeat(room)}-${unique}`);
    expect(batchName('p'.repeat(10_000), upload)).toHaveLength(255);
  });

  it('never cuts inside a surrogate pair', () => {
    const room = 255 - unique.length - 1;
    const name = batchName(`${'p'.repeat(room - 1)}\u{1f600}`, upload);
    expect(name).toBe(`${'p'.repeat(room - 1)}-${unique}`);
  });

  it('holds for any prefix', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400, size: 'max' }),
        fc.nat(),
        fc.integer({ min: 1, max: 1000 }),
        (prefix, batch, attempt) => {
          const { runId } = upload;
          const part = { start: 999_999_999, of: 2 ** 30 };
          const whole = batchName(prefix, {
            runId,
            batch: { id: batch, addresses: 9, part },
            attempt,
          });
          expect(whole.length).toBeLessThanOrEqual(255);
          const name = batchName(prefix, { runId, batch: { id: batch, addresses: 9 }, attempt });
          expect(name.length).toBeLessThanOrEqual(255);
          expect(name.length).toBeGreaterThanOrEqual(1);
          expect(name).not.toMatch(loneSurrogate);
          const padded = String(batch + 1).padStart(6, '0');
          expect(name.endsWith(`-${upload.runId}-${padded}-${attempt}`)).toBe(true);
        },
      ),
    );
  });
});

describe('parseBatchName', () => {
  it('reads what batchName made, whatever the prefix, and nothing else', () => {
    const { runId } = upload;
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom('', '-', `a-${runId}-000001-1`, `-${runId}-`)),
        fc.nat(2_000_000),
        fc.option(
          fc.record({ start: fc.nat(10_000_000), addresses: fc.integer({ min: 1, max: 50_000 }) }),
        ),
        fc.integer({ min: 1, max: 1000 }),
        (prefix, id, lines, attempt) => {
          const addresses = lines?.addresses ?? 9;
          const part = lines ? { start: lines.start, of: 2 ** 30 } : undefined;
          const name = batchName(prefix, { runId, batch: { id, addresses, part }, attempt });
          const { start = 0 } = lines ?? {};
          expect(parseBatchName(name, runId)).toEqual({
            id,
            lines: lines ? { start, end: start + addresses } : undefined,
            attempt,
          });
        },
      ),
    );
    const others = [`p-${unique}x`, `p-${runId}-7-2`, unique, `p-${runId}-000007-`, 'p', ''];
    for (const name of others) expect(parseBatchName(name, runId)).toBeUndefined();
    expect(parseBatchName(`p-${unique}`, 'fedcba9876543210')).toBeUndefined();
  });
});

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
