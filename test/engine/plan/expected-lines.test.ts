import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Batch, halveBatch } from '../../../src/engine/batches/batch.js';
import { viewOf } from '../../../src/engine/results/json/json-bytes.js';
import { ExpectedLines } from '../../../src/engine/plan/expected-lines.js';
import { emailLine } from '../../../src/engine/addresses/email.js';
import { groupNumber } from '../../../src/engine/addresses/address.js';
import { linesOf, Planning } from './planning.js';

const countries = ['US', 'DE', 'FR'] as const;

/** Emails of several batch groups, whose batches share the numbers between them. */
function planned(rows: readonly (readonly [email: string, country: string])[], batchSize = 1000) {
  const planning = new Planning({ batchSize, country: { fallback: 'US', position: 1 } });
  planning.plan(...rows);
  const numberOf = (batch: Batch) => (line: string) => {
    const address = emailLine(line);
    if (!('key' in address)) return -1;
    return planning.book.findWaiting(groupNumber(batch.group), address.key, batch.id);
  };
  return { planning, batches: planning.batches(), numberOf };
}

/** The same batch, its lines in pieces cut anywhere. */
function inPieces(batch: Batch, bytes: number): Batch {
  return {
    ...batch,
    async *open() {
      for await (const block of batch.open()) {
        for (let at = 0; at < block.length; at += bytes) yield block.subarray(at, at + bytes);
      }
    },
  };
}

async function takeAll(lines: ExpectedLines, keys: readonly string[]): Promise<number[]> {
  const taken: number[] = [];
  for (const key of keys) {
    const bytes = Buffer.from(`"${key}"`);
    await lines.prepare(bytes.length);
    taken.push(lines.take(viewOf(bytes), 1, bytes.length - 1));
  }
  await lines.close();
  return taken;
}

describe('ExpectedLines', () => {
  it('knows every key of an export that is in the order of the batch', async () => {
    const rows = Array.from(
      { length: 3000 },
      (_, row) => [`Person.${row}@x.test`, countries[row % 3] ?? 'US'] as const,
    );
    const { planning, batches, numberOf } = planned(rows);
    for (const batch of batches) {
      const keys = await linesOf(batch);
      const numbers = keys.map(numberOf(batch));
      for (const part of [batch, inPieces(batch, 7)]) {
        const lines = new ExpectedLines(part, planning.book, numberOf(batch));
        expect(await takeAll(lines, keys)).toEqual(numbers);
      }
    }
  });

  it('knows the keys of a part of a batch', async () => {
    const rows = Array.from({ length: 9 }, (_, row) => [`p${row}@x.test`, 'US'] as const);
    const { planning, batches, numberOf } = planned(rows);
    const [whole] = batches;
    if (!whole) throw new Error('nothing was planned');
    const [, second] = await halveBatch(whole);
    const keys = await linesOf(second);
    const lines = new ExpectedLines(second, planning.book, numberOf(second));
    expect(await takeAll(lines, keys)).toEqual(keys.map(numberOf(second)));
  });

  it('finds its place again behind lines that the service left out', async () => {
    const rows = Array.from({ length: 100 }, (_, row) => [`p${row}@x.test`, 'US'] as const);
    const { planning, batches, numberOf } = planned(rows);
    const [batch] = batches;
    if (!batch) throw new Error('nothing was planned');
    const keys = (await linesOf(batch)).filter((_, line) => line % 10 < 3);
    const lines = new ExpectedLines(batch, planning.book, numberOf(batch));
    expect(await takeAll(lines, keys)).toEqual(keys.map(numberOf(batch)));
  });

  it('never takes a key for another address, whatever the export holds in whatever order', async () => {
    const email = fc
      .tuple(fc.constantFrom('a', 'A', 'b', 'ab', 'abc'), fc.nat(30), fc.constantFrom('x', 'y.z'))
      .map(([name, digits, domain]) => `${name}${digits}@${domain}`);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(email, fc.constantFrom(...countries)), { minLength: 1 }),
        fc.array(email),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 64 }),
        fc.infiniteStream(fc.nat(9)),
        async (rows, strangers, batchSize, pieceBytes, moves) => {
          const { planning, batches, numberOf } = planned(rows, batchSize);
          for (const batch of batches) {
            const keys: string[] = [];
            for (const key of [...(await linesOf(batch)), ...strangers]) {
              const { value: move = 0 } = moves.next();
              if (move === 0) continue;
              if (move === 1) keys.unshift(key);
              else keys.push(move === 2 ? key.toUpperCase() : key);
            }
            const lines = new ExpectedLines(
              inPieces(batch, pieceBytes),
              planning.book,
              numberOf(batch),
            );
            const taken = await takeAll(lines, keys);
            const submitted = new Set(await linesOf(batch));
            for (const [index, number] of taken.entries()) {
              if (number === -1) continue;
              expect(submitted).toContain(keys[index]);
              expect(number).toBe(numberOf(batch)(keys[index] ?? ''));
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('takes nothing more once the lines and the numbers disagree', async () => {
    const rows = Array.from({ length: 20_000 }, (_, row) => [`p${row}@x.test`, 'US'] as const);
    const { planning, batches } = planned(rows, 20_000);
    const [batch] = batches;
    if (!batch) throw new Error('nothing was planned');
    const keys = await linesOf(batch);
    const numbers = vi.fn<(line: string) => number>().mockReturnValueOnce(0).mockReturnValue(5);
    const taken = await takeAll(new ExpectedLines(batch, planning.book, numbers), keys);
    expect(taken[0]).toBe(0);
    expect(taken.at(-1)).toBe(-1);
  });

  it('takes no digits alone, which may be a number that lost its plus sign', async () => {
    const planning = new Planning({ columns: [{ type: 'phone', position: 0 }] });
    planning.plan(['12345'], ['+14155550100']);
    const [batch] = planning.batches();
    if (!batch) throw new Error('nothing was planned');
    const lines = new ExpectedLines(batch, planning.book, (line) => (line === '12345' ? 0 : 1));
    expect(await takeAll(lines, ['12345', '+14155550100'])).toEqual([-1, 1]);
  });
});
