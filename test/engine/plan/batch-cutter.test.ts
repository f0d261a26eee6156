import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BatchGroup } from '../../../src/engine/addresses/address.js';
import type { Batch } from '../../../src/engine/batches/batch.js';
import { BatchCutter, MemoryStorage, wholeRecords } from '../../../src/engine/plan/batch-cutter.js';

const groups: readonly BatchGroup[] = [
  { type: 'email', country: 'US' },
  { type: 'phone', country: 'US' },
  { type: 'email', country: 'DE' },
];

function groupOf(key: number): BatchGroup {
  const group = groups[key];
  if (!group) throw new Error(`no group ${key}`);
  return group;
}

function createCutter(batchSize: number) {
  const storage = new MemoryStorage();
  return { storage, cutter: new BatchCutter({ batchSize, storage }) };
}

async function bytesOf(batch: Batch): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of batch.open()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function textOf(batch: Batch): Promise<string> {
  return (await bytesOf(batch)).toString();
}

function ids(batches: readonly Batch[]): number[] {
  return batches.map(({ id }) => id);
}

describe('BatchCutter', () => {
  it('makes a TXT file of lines: UTF-8, LF behind each, no mark in front', async () => {
    const { cutter } = createCutter(10);
    for (const line of ['a@sluice.test', 'ü@sluice.test', '名前@sluice.test', '😀@sluice.test']) {
      cutter.add(0, groupOf(0), line, 0);
    }
    cutter.closeAll();
    const [batch] = cutter.take();
    expect(batch && (await textOf(batch))).toBe(
      'a@sluice.test\nü@sluice.test\n名前@sluice.test\n😀@sluice.test\n',
    );
  });

  it('closes a batch with its last address', () => {
    const { cutter } = createCutter(2);
    expect(cutter.add(0, groupOf(0), 'a', 0)).toBe(0);
    expect(cutter.take()).toEqual([]);
    expect(cutter.add(0, groupOf(0), 'b', 0)).toBe(0);
    expect(cutter.take()).toMatchObject([{ id: 0, addresses: 2, group: groupOf(0) }]);
    expect(cutter.oldestOpenedAt()).toBeUndefined();
    expect(cutter.add(0, groupOf(0), 'c', 0)).toBe(1);
  });

  it('keeps one open batch for each batch group and numbers them in the order of their opening', () => {
    const { cutter } = createCutter(2);
    const numbers = [0, 1, 2, 1, 1, 0, 2].map((key, index) =>
      cutter.add(key, groupOf(key), `line-${index}`, 0),
    );
    expect(numbers).toEqual([0, 1, 2, 1, 3, 0, 2]);
    expect(ids(cutter.take())).toEqual([1, 0, 2]);
    cutter.closeAll();
    expect(ids(cutter.take())).toEqual([3]);
  });

  it('closes the one that has been open longest first', () => {
    const { cutter } = createCutter(10);
    expect(cutter.oldestOpenedAt()).toBeUndefined();
    cutter.closeOldest();
    expect(cutter.take()).toEqual([]);
    cutter.add(2, groupOf(2), 'a', 100);
    cutter.add(0, groupOf(0), 'b', 200);
    // An address for an open batch does not make it younger.
    cutter.add(2, groupOf(2), 'c', 300);
    expect(cutter.oldestOpenedAt()).toBe(100);
    cutter.closeOldest();
    expect(ids(cutter.take())).toEqual([0]);
    expect(cutter.oldestOpenedAt()).toBe(200);
    // A batch group that opens again is the youngest.
    cutter.add(2, groupOf(2), 'd', 400);
    cutter.closeOldest();
    cutter.closeOldest();
    expect(ids(cutter.take())).toEqual([1, 2]);
    expect(cutter.oldestOpenedAt()).toBeUndefined();
  });

  it('gives closed batches once', () => {
    const { cutter } = createCutter(1);
    cutter.add(0, groupOf(0), 'a', 0);
    expect(ids(cutter.take())).toEqual([0]);
    expect(cutter.take()).toEqual([]);
    cutter.closeAll();
    expect(cutter.take()).toEqual([]);
  });

  it('can be read from the beginning as often as asked', async () => {
    const { cutter } = createCutter(2);
    cutter.add(0, groupOf(0), 'a', 0);
    cutter.add(0, groupOf(0), 'b', 0);
    const [batch] = cutter.take();
    expect(batch && [await textOf(batch), await textOf(batch)]).toEqual(['a\nb\n', 'a\nb\n']);
  });

  it('gives what it stored away for good: nothing is written into it again', async () => {
    const blocks: { readonly block: Uint8Array; readonly copy: Uint8Array }[] = [];
    const storage = {
      append: (_batch: number, block: Uint8Array) => {
        blocks.push({ block, copy: Uint8Array.from(block) });
      },
      open: () => [],
    };
    const cutter = new BatchCutter({ batchSize: 5000, storage });
    for (let index = 0; index < 20_000; index += 1) {
      cutter.add(index % 3, groupOf(index % 3), `address-${index}@sluice.test`, 0);
    }
    cutter.closeAll();
    expect(blocks.length).toBeGreaterThan(6);
    for (const { block, copy } of blocks) expect(Buffer.compare(block, copy)).toBe(0);
  });

  it('takes lines that are longer than a block', async () => {
    const { cutter } = createCutter(3);
    const lines = ['é'.repeat(700), 'x'.repeat(200_000), '😀'.repeat(40_000)];
    for (const line of lines) cutter.add(0, groupOf(0), line, 0);
    const [batch] = cutter.take();
    const text = `${lines.join('\n')}\n`;
    expect(batch?.sizeBytes).toBe(Buffer.byteLength(text));
    expect(batch && (await textOf(batch)) === text).toBe(true);
  });

  it('keeps every line, once, in its batch, in order, under any cuts', async () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 700 }).map((length) => 'ö'.repeat(length)),
    );
    const step = fc.oneof(
      { weight: 20, arbitrary: fc.record({ key: fc.nat(2), line }) },
      { weight: 2, arbitrary: fc.constant('oldest' as const) },
      { weight: 1, arbitrary: fc.constant('all' as const) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 150, size: 'max' }),
        fc.integer({ min: 1, max: 30 }),
        async (steps, batchSize) => {
          const { cutter } = createCutter(batchSize);
          const expected = new Map<number, { readonly key: number; readonly lines: string[] }>();
          const opened: number[] = [];
          const closed: Batch[] = [];
          for (const [now, what] of steps.entries()) {
            if (what === 'oldest') cutter.closeOldest();
            else if (what === 'all') cutter.closeAll();
            else {
              const clean = what.line.replace(/[\n\ud800-\udfff]/g, '?');
              const id = cutter.add(what.key, groupOf(what.key), clean, now);
              if (!expected.has(id)) opened.push(id);
              const batch = expected.get(id) ?? { key: what.key, lines: [] };
              expected.set(id, batch);
              batch.lines.push(clean);
            }
            closed.push(...cutter.take());
          }
          cutter.closeAll();
          closed.push(...cutter.take());
          expect(opened).toEqual(opened.map((_, index) => index));
          expect(ids(closed).toSorted((a, b) => a - b)).toEqual(opened);
          for (const batch of closed) {
            const { key, lines } = expected.get(batch.id) ?? { key: -1, lines: [] };
            const bytes = await bytesOf(batch);
            expect(batch.group).toBe(groupOf(key));
            expect(bytes.toString()).toBe(lines.map((text) => `${text}\n`).join(''));
            expect(batch.addresses).toBe(lines.length);
            expect(batch.addresses).toBeLessThanOrEqual(batchSize);
            expect(batch.sizeBytes).toBe(bytes.length);
            expect(batch.checksum).toBe(crc32(bytes));
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

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

describe('wholeRecords', () => {
  it('refuses a stream that ends within a record', async () => {
    const pieces = wholeRecords([Buffer.from([1, 2, 3])], 2, () => 2);
    expect(await pieces.next()).toMatchObject({ value: Buffer.from([1, 2]) });
    await expect(pieces.next()).rejects.toMatchObject({ name: 'Error' });
  });
});
