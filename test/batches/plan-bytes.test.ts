import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CsvScanner } from '../../src/formats/csv-scanner.js';
import type { CsvChunk } from '../../src/formats/csv-chunk.js';
import type { RowChunk } from '../../src/rows/row-chunk.js';
import { linesOf, Planning } from './planning.js';

const email = fc.oneof(
  fc.emailAddress(),
  fc.constantFrom(
    '',
    ' a@x.test ',
    'A@x.test',
    'a@X.test',
    'ä@x.test',
    '"a b"@x.test',
    'a,b@x',
    'é',
  ),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);

/** A CSV file of an email and a country column, whose first is quoted where it must be and by chance. */
function csvOf(rows: readonly (readonly [string, string, boolean])[]): CsvChunk | undefined {
  const scanner = new CsvScanner({
    name: 'test',
    delimiter: 0x2c,
    hasHeader: true,
    maxRowBytes: 10_000,
    wanted: () => [0, 1],
  });
  const lines = rows.map(([cell, country, isQuoted]) => {
    const mustQuote = isQuoted || /[",\r\n]/.test(cell);
    return `${mustQuote ? `"${cell.replaceAll('"', '""')}"` : cell},${country}\n`;
  });
  return scanner.feed(Buffer.from(`email,country\n${lines.join('')}`));
}

/** The same rows without their bytes. */
function textOnly(chunk: RowChunk): RowChunk {
  return {
    length: chunk.length,
    byteSize: chunk.byteSize,
    text: (row, column) => chunk.text(row, column),
  };
}

async function planned(chunk: RowChunk) {
  const planning = new Planning({ batchSize: 7, country: { fallback: 'US', position: 1 } });
  const tickets = [...planning.planner.plan(chunk, 0)];
  const batches: unknown[] = [];
  for (const batch of planning.batches()) {
    const { id, lane, addresses, sizeBytes, checksum } = batch;
    batches.push({ id, lane, addresses, sizeBytes, checksum, lines: await linesOf(batch) });
  }
  return { tickets, batches, counts: planning.planner.counts };
}

describe('Planner', () => {
  it('plans rows by their bytes as it plans them by their text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(email, fc.constantFrom('', 'DE', 'US', 'nowhere'), fc.boolean()), {
          minLength: 1,
          maxLength: 60,
        }),
        async (rows) => {
          const chunk = csvOf(rows);
          if (!chunk) throw new Error('no rows came');
          expect(chunk.bytes).toBeDefined();
          expect(await planned(chunk)).toEqual(await planned(textOnly(chunk)));
        },
      ),
      { numRuns: 500 },
    );
  });
});
