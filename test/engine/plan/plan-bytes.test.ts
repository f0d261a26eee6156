import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CsvScanner } from '../../../src/lists/csv/csv-scanner.js';
import type { CsvChunk } from '../../../src/lists/csv/csv-chunk.js';
import type { RowChunk } from '../../../src/lists/rows/chunks/row-chunk.js';
import type { VerifiedColumn } from '../../../src/engine/plan/cell-reader.js';
import type { CountryRule } from '../../../src/engine/plan/row-countries.js';
import { linesOf, Planning } from './planning.js';

const columns: readonly VerifiedColumn[] = [
  { type: 'email', position: 0 },
  { type: 'phone', position: 2 },
];

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

const digit = fc.constantFrom(...Array.from('0000123456789'));
/** Digits and what may stand around them, in ways that people write and in all others. */
const phone = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('', '', '+49 ', '+1 ', '0043 '),
      fc.array(
        fc.oneof(
          fc.constantFrom('030', '0641', '(0151)', '(030)', '641', '30', '+49', '(0)', '01'),
          fc.string({ unit: digit, minLength: 1, maxLength: 8 }),
        ),
        { minLength: 1, maxLength: 6 },
      ),
      fc.constantFrom(' ', ' ', '-', '/', ' / ', ' - ', '', '. '),
    )
    .map(([start, groups, between]) => start + groups.join(between)),
  fc.string({ unit: digit, minLength: 7, maxLength: 16 }),
  fc.string({
    unit: fc.oneof(digit, fc.constantFrom(...Array.from(" +-./()[],'x\t"))),
    maxLength: 20,
  }),
  fc
    .tuple(
      fc.constantFrom(
        '+1 ',
        '+',
        '00',
        '0',
        '1',
        '',
        '+49 (0) ',
        '+49 ( 0)',
        '(0)',
        '+39 0',
        '011',
      ),
      fc.constantFrom('(202) ', '202-', '202.', '30 ', '171/', '6', '44', '2 '),
      fc.string({ unit: digit, minLength: 5, maxLength: 9 }),
      fc.constantFrom('', '', '', '.0', '.00', ',0', ' ', '\u00a0', ')', ' ext. 1'),
    )
    .map((parts) => parts.join('')),
  fc.constantFrom('', '+', '-', '１２３４５６７', '+4930\u2011123456', 'a@x.test', '٠١٢٣٤٥٦٧'),
);
const countries = [
  '',
  'DE',
  'US',
  'us',
  '"DE"',
  'IT',
  'GB',
  'NO',
  'GA',
  'USA',
  'XX',
  'D ',
  ' DE',
  '1A',
  'ä',
];

type Cells = readonly [email: string, country: string, isQuoted: boolean, phone: string];

/** A CSV file of an email, a country and a phone column, whose first is quoted where it must be and by chance. */
function csvOf(rows: readonly Cells[]): CsvChunk | undefined {
  const scanner = new CsvScanner({
    name: 'test',
    delimiter: 0x2c,
    hasHeader: true,
    maxRowBytes: 10_000,
    wanted: () => [0, 1, 2],
  });
  const quoted = (cell: string, isQuoted: boolean): string =>
    isQuoted || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const lines = rows.map(
    ([cell, country, isQuoted, number]) =>
      `${quoted(cell, isQuoted)},${country},${quoted(number, isQuoted)}\n`,
  );
  return scanner.feed(Buffer.from(`email,country,phone\n${lines.join('')}`));
}

/** The same rows without their bytes. */
function textOnly(chunk: CsvChunk): RowChunk {
  return {
    length: chunk.length,
    byteSize: chunk.byteSize,
    text: (row, column) => chunk.text(row, column),
    number: (row) => chunk.number(row),
  };
}

async function planned(chunk: RowChunk, country: CountryRule) {
  const planning = new Planning({ batchSize: 7, country, columns });
  const tickets = [...planning.planner.plan(chunk, 0)];
  const batches: unknown[] = [];
  for (const batch of planning.batches()) {
    const { id, group, addresses, sizeBytes, checksum } = batch;
    batches.push({ id, group, addresses, sizeBytes, checksum, lines: await linesOf(batch) });
  }
  const { counts, cells } = planning.planner;
  const { profiles } = cells;
  return { tickets, batches, counts, profiles, foreign: profiles[1]?.callingCodes?.foreign() };
}

describe('Planner', () => {
  it('plans rows by their bytes as it plans them by their text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(email, fc.constantFrom(...countries), fc.boolean(), phone), {
          minLength: 1,
          maxLength: 300,
        }),
        fc.constantFrom<CountryRule>(
          { fallback: 'US', position: 1 },
          { fallback: 'US', position: undefined },
          { fallback: 'DE', position: undefined },
        ),
        async (rows, country) => {
          const chunk = csvOf(rows);
          if (!chunk) throw new Error('no rows came');
          expect(chunk.bytes).toBeDefined();
          expect(await planned(chunk, country)).toEqual(await planned(textOnly(chunk), country));
        },
      ),
      { numRuns: 500 },
    );
  });
});
