import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emailLine } from '../../../src/engine/addresses/email.js';
import type { VerifiedColumn } from '../../../src/engine/plan/cell-reader.js';
import { invalidText, type CellText } from '../../../src/lists/rows/chunks/row-chunk.js';
import { EmailsOfCountries } from '../../../src/engine/plan/planner.js';
import { linesOf, Planning } from './planning.js';

const email: VerifiedColumn = { type: 'email', position: 0 };
const phone: VerifiedColumn = { type: 'phone', position: 1 };
const fixedUs = { fallback: 'US', position: undefined } as const;

describe('Planner', () => {
  it('gives every verified cell a ticket, row after row', () => {
    const planning = new Planning({ columns: [email, phone] });
    const tickets = planning.plan(
      ['a@sluice.test', '202-555-0123'],
      ['b@sluice.test', '+1 202 555 0123'],
    );
    expect([...tickets]).toEqual([0, 1, 2, 1]);
  });

  it('gives an address one number however it is written, in any chunk and column', () => {
    const columns = [email, { type: 'email', position: 1 }] as const;
    const planning = new Planning({ columns });
    expect([...planning.plan(['Ann@Sluice.test', ' ann@sluice.TEST\t'])]).toEqual([0, 0]);
    expect([...planning.plan(['b@sluice.test', 'ANN@SLUICE.TEST'])]).toEqual([1, 0]);
  });

  it('sends an address as it first came', async () => {
    const planning = new Planning();
    planning.plan([' Ann@Sluice.test '], ['ann@sluice.test']);
    expect(await linesOf(planning.batches()[0])).toEqual(['Ann@Sluice.test']);
  });

  it('sends phones in their E.164 form', async () => {
    const planning = new Planning({ columns: [phone] });
    planning.plan(['', '(202) 555-0123'], ['', '12025550123'], ['', '1-800-FLOWERS']);
    expect(await linesOf(planning.batches()[0])).toEqual(['+12025550123', '1-800-FLOWERS']);
  });

  it('keeps emails and phones of the same text apart', () => {
    const planning = new Planning({ columns: [email, phone] });
    expect([...planning.plan(['12025550123', '12025550123'])]).toEqual([0, 1]);
    expect(planning.batches().map(({ group }) => group)).toEqual([
      { type: 'email', country: 'US' },
      { type: 'phone', country: 'US' },
    ]);
  });

  it('counts cells and addresses', () => {
    const planning = new Planning({ columns: [email, phone] });
    planning.plan(['a@sluice.test', '2025550123'], ['A@sluice.test', ''], ['', 'x,y']);
    expect(planning.planner.counts).toEqual({
      email: { submittable: 2, addresses: 1, recalled: 0 },
      phone: { submittable: 1, addresses: 1, recalled: 0 },
    });
  });

  it('makes batches of at most as many addresses as it may', async () => {
    const planning = new Planning({ batchSize: 2 });
    planning.plan(...['a', 'b', 'a', 'c', 'd', 'e'].map((name) => [`${name}@sluice.test`]));
    const lines = await Promise.all(planning.batches().map(linesOf));
    expect(lines).toEqual([
      ['a@sluice.test', 'b@sluice.test'],
      ['c@sluice.test', 'd@sluice.test'],
      ['e@sluice.test'],
    ]);
  });

  it('stamps a batch with the time of its first address', () => {
    const planning = new Planning();
    const chunk = (name: string) => ({ length: 1, byteSize: 0, text: () => name });
    planning.planner.plan(chunk('a'), 5);
    planning.planner.plan(chunk('b'), 7);
    expect(planning.cutter.oldestOpenedAt()).toBe(5);
  });
});

describe('a cell that cannot be a line', () => {
  const cells: readonly (readonly [CellText, string])[] = [
    [undefined, 'empty'],
    ['', 'empty'],
    [' \t\u0085\ufeff', 'empty'],
    ['a,b@sluice.test', 'contains_comma'],
    ['a\u0000b@sluice.test', 'control_character'],
    [`${'a'.repeat(250)}@sluice.test`, 'too_long'],
    [invalidText, 'invalid_encoding'],
    ['a\ud800@sluice.test', 'invalid_encoding'],
  ];

  it.each(cells)('(%o) is not submitted: %s', (cell, reason) => {
    const planning = new Planning();
    const [ticket] = planning.plan([cell]);
    expect(planning.tell(ticket)).toBe(`not_submitted ${reason}`);
    expect(planning.batches()).toEqual([]);
    expect(planning.planner.counts.email).toEqual({ submittable: 0, addresses: 0, recalled: 0 });
  });

  it('of a malformed address is a line all the same: the service judges it', async () => {
    const planning = new Planning();
    planning.plan(['not an address'], ['@'], ['__proto__']);
    expect(await linesOf(planning.batches()[0])).toEqual(['not an address', '@', '__proto__']);
  });
});

describe('the country of a row', () => {
  it('is its own cell in any case, else the fallback', () => {
    const planning = new Planning({ country: { fallback: 'US', position: 1 } });
    planning.plan(['a', 'de'], ['b', ''], ['c', undefined], ['d', ' FR '], ['e', 'DE']);
    expect(planning.batches().map(({ group, addresses }) => [group.country, addresses])).toEqual([
      ['DE', 2],
      ['US', 2],
      ['FR', 1],
    ]);
  });

  it('that is missing or unknown keeps the row back with its reason', () => {
    const planning = new Planning({ country: { fallback: undefined, position: 1 } });
    const tickets = planning.plan(
      ['a', ''],
      ['b', 'XX'],
      ['c', 'Ruritania'],
      ['d', invalidText],
      ['e', 'dı'],
      ['', ''],
      ['  ', 'XX'],
      ['\u0085', ''],
      ['a,b', ''],
    );
    expect([...tickets].map((ticket) => planning.tell(ticket))).toEqual([
      'not_submitted country_missing',
      'not_submitted country_unsupported',
      'not_submitted country_unsupported',
      'not_submitted country_unsupported',
      'not_submitted country_unsupported',
      'not_submitted empty',
      'not_submitted empty',
      'not_submitted empty',
      'not_submitted country_missing',
    ]);
    expect(planning.batches()).toEqual([]);
  });

  it('makes two addresses of one email: each batch group is asked and paid for itself', () => {
    const planning = new Planning({ country: { fallback: undefined, position: 1 } });
    const tickets = planning.plan(['a', 'US'], ['a', 'DE'], ['a', 'us']);
    expect([...tickets]).toEqual([0, 1, 0]);
    expect(planning.planner.counts.email).toEqual({ submittable: 3, addresses: 2, recalled: 0 });
    expect(planning.batches()).toHaveLength(2);
  });

  it('reads national numbers as its own', async () => {
    const columns = [{ type: 'phone', position: 0 }] as const;
    const planning = new Planning({ columns, country: { fallback: undefined, position: 1 } });
    planning.plan(['030 123456', 'DE'], ['202 555 0123', 'US']);
    const lines = await Promise.all(planning.batches().map(linesOf));
    expect(lines).toEqual([['+4930123456'], ['+12025550123']]);
  });

  it('does not fill the memory with junk', () => {
    const planning = new Planning({ country: { fallback: 'US', position: 1 } });
    const rows = Array.from({ length: 10_000 }, (_, index): [string, string] => ['a', `${index}`]);
    expect(planning.plan(...rows)).toHaveLength(10_000);
    expect([...planning.plan(['a', 'de'])].map((ticket) => planning.tell(ticket))).toEqual([
      'pending',
    ]);
  });
});

describe('any rows', () => {
  it('come out as batches that hold each address once and nothing else', async () => {
    const name = fc.oneof(
      fc.constantFrom(
        'a@x.test',
        'A@X.test',
        'b@x.test',
        '',
        ' ',
        'c,d',
        'ü@x.test',
        'u\u0308@x.test',
      ),
      fc.string({ maxLength: 5 }),
    );
    const country = fc.constantFrom('US', 'us', 'DE', '', 'XX');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name, country), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        async (rows, batchSize) => {
          const planning = new Planning({
            country: { fallback: 'US', position: 1 },
            batchSize,
          });
          const tickets = planning.plan(...rows);
          expect(tickets).toHaveLength(rows.length);
          const batches = planning.batches();
          const sent = (await Promise.all(batches.map(linesOf))).flatMap((lines, index) =>
            lines.map((line) => `${batches[index]?.group.country} ${emailKey(line)}`),
          );
          expect(new Set(sent).size).toBe(sent.length);
          const wanted = rows.flatMap(([cell, country]) => {
            const group = country === '' ? 'US' : country.toUpperCase();
            const key = emailKey(cell);
            return key === undefined || group === 'XX' ? [] : [`${group} ${key}`];
          });
          expect(new Set(sent)).toEqual(new Set(wanted));
          expect(planning.book.size).toBe(sent.length);
          expect(planning.planner.counts.email).toEqual({
            submittable: wanted.length,
            addresses: sent.length,
            recalled: 0,
          });
        },
      ),
    );
  });
});

function emailKey(cell: string): string | undefined {
  const address = emailLine(cell);
  return 'key' in address ? address.key : undefined;
}

it('has the same plan for the same rows', async () => {
  const plan = () => {
    const planning = new Planning({ columns: [email, phone], country: fixedUs, batchSize: 3 });
    planning.plan(
      ...Array.from({ length: 20 }, (_, i): [string, string] => [`${i}@x`, `20255501${i + 10}`]),
    );
    return planning.batches().map(({ id, group, checksum, sizeBytes }) => ({
      id,
      group,
      checksum,
      sizeBytes,
    }));
  };
  expect(plan()).toEqual(plan());
});

it('counts each email of several countries once, however it is written', () => {
  const emails = new EmailsOfCountries();
  const bytes = Buffer.from('x;ANN@sluice.test');
  emails.add(1, 'ann@sluice.test');
  emails.add(1, 'bo@sluice.test');
  expect(emails.count).toBe(0);
  emails.add(2, { bytes, start: 2, end: bytes.length });
  emails.add(3, 'Ann@sluice.test');
  expect(emails.count).toBe(1);
});

it('counts a sample of very many, and keeps no more', () => {
  const emails = new EmailsOfCountries();
  for (let at = 0; at < 300_000; at += 1) emails.add(1, `person${at}@sluice.test`);
  for (let at = 0; at < 300_000; at += 10) emails.add(2, `person${at}@sluice.test`);
  expect(emails.count).toBeGreaterThan(28_000);
  expect(emails.count).toBeLessThan(32_000);
});
