import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchName, parseBatchName } from '../../../src/engine/batches/batch-name.js';

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
