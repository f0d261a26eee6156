import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { laterTicket } from '../../../src/engine/plan/address-book.js';
import { ExternalDedup } from '../../../src/engine/plan/external-dedup.js';
import { FirstCells } from '../../../src/engine/plan/dedup-merge.js';
import { MemoryStorage } from '../../../src/engine/plan/batch-cutter.js';
import type { CellText } from '../../../src/lists/rows/chunks/row-chunk.js';
import { linesOf, Planning } from './planning.js';

/** Few names, so that most come again; in two columns and three countries. */
const cell = fc.oneof(
  { weight: 8, arbitrary: fc.nat({ max: 40 }).map((index) => `Name${index}@x.test`) },
  { weight: 4, arbitrary: fc.nat({ max: 40 }).map((index) => `name${index}@X.test`) },
  fc.constantFrom('', ' ', 'a,b@x.test', 'ä@x.test', 'ö'.repeat(254), '"a"'),
);
const phone = fc.oneof(
  fc.nat({ max: 30 }).map((index) => `+1 212 555 01${String(index).padStart(2, '0')}`),
  fc.nat({ max: 30 }).map((index) => `21255501${String(index).padStart(2, '0')}`),
  fc.constantFrom('', 'no number'),
);
const row = fc.tuple(cell, phone, fc.constantFrom('', 'DE', 'US', 'nowhere'));

function planning(): Planning {
  return new Planning({
    columns: [
      { type: 'email', position: 0 },
      { type: 'phone', position: 1 },
    ],
    country: { fallback: 'US', position: 2 },
    batchSize: 7,
  });
}

async function reported(planned: Planning, tickets: readonly number[]) {
  const batches: unknown[] = [];
  for (const batch of planned.batches()) {
    const { id, group, addresses, sizeBytes, checksum } = batch;
    batches.push({ id, group, addresses, sizeBytes, checksum, lines: await linesOf(batch) });
  }
  return { tickets, batches, counts: planned.planner.counts, addresses: planned.book.size };
}

/** Plans some chunks with one table, and the others by partitions, whose blocks come in pieces. */
async function plannedByPartitions(
  chunks: readonly (readonly CellText[])[][],
  { from, windowCells, pieceBytes }: { from: number; windowCells: number; pieceBytes: number },
) {
  const planned = planning();
  const tickets = chunks.slice(0, from).flatMap((rows) => [...planOf(planned, rows)]);
  const memory = new MemoryStorage();
  const storage = {
    append: (stream: number, block: Uint8Array) => memory.append(stream, block),
    *open(stream: number) {
      for (const block of memory.open(stream)) {
        for (let at = 0; at < block.length; at += pieceBytes) {
          yield block.subarray(at, at + pieceBytes);
        }
      }
    },
  };
  const partitions = new ExternalDedup({ storage, known: planned.book.size, windowCells });
  for (const { shard, slots } of planned.book.handOver()) partitions.addKnown(shard, slots);
  planned.planner.numberLater(partitions);
  const later = chunks.slice(from).flatMap((rows) => [...planOf(planned, rows)]);
  await partitions.findRepeated(async () => undefined);
  const numbered = planned.planner.numberNow();
  for (const ticket of later) {
    tickets.push(ticket === laterTicket ? ((await numbered.next(1))[0] ?? -1) : ticket);
  }
  return reported(planned, tickets);
}

function planOf(planned: Planning, rows: readonly (readonly CellText[])[]): Uint32Array {
  return planned.plan(...rows.map((cells) => [...cells]));
}

describe('ExternalDedup', () => {
  it('numbers any list as one table does, from whichever chunk on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(row, { maxLength: 30 }), { maxLength: 8 }),
        fc.nat({ max: 8 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 100 }),
        async (chunks, from, windowCells, pieceBytes) => {
          const inMemory = planning();
          const tickets = chunks.flatMap((rows) => [...planOf(inMemory, rows)]);
          expect(await plannedByPartitions(chunks, { from, windowCells, pieceBytes })).toEqual(
            await reported(inMemory, tickets),
          );
        },
      ),
      { numRuns: 120 },
    );
  });

  it('numbers lists that fill blocks of every partition', async () => {
    // Every third row is of one of the addresses before it.
    const names = Array.from({ length: 60_000 }, (_, index) => [
      `${index % 3 === 2 ? (index * 31) % 20_000 : index * 7}@x.test`,
      '',
      '',
    ]);
    const inMemory = planning();
    const tickets = [...planOf(inMemory, names)];
    const chunks = [names.slice(0, 10_000), names.slice(10_000)];
    const options = { from: 1, windowCells: 20_000, pieceBytes: 50_000 };
    expect(await plannedByPartitions(chunks, options)).toEqual(await reported(inMemory, tickets));
  });
});

describe('FirstCells', () => {
  it('counts those before any cell', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 3000 }), (cells) => {
        const first = new FirstCells(cells.length);
        let count = 0;
        const counts = cells.map((isFirst) => {
          first.add(isFirst);
          count += isFirst ? 1 : 0;
          return count - (isFirst ? 1 : 0);
        });
        expect(cells.map((_, cell) => first.before(cell))).toEqual(counts);
      }),
    );
  });
});
