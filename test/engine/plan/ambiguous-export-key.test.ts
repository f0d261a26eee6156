import { describe, expect, it } from 'vitest';
import { Planning } from './planning.js';

const mobile = '+393906123456';
const landline = '+3906123456';
/** Of Italy's numbers both are possible: this one without its plus, or that one in national form. */
const either = '3906123456';

async function tell(cells: readonly string[], keys: readonly string[]): Promise<readonly string[]> {
  const planning = new Planning({
    columns: [{ type: 'phone', position: 0 }],
    country: { fallback: 'IT', position: undefined },
  });
  const tickets = planning.plan(...cells.map((cell) => [cell]));
  const [batch] = planning.batches();
  if (!batch) throw new Error('nothing was planned');
  const record = { valid: true, wrong: false, unknown: false };
  const text = JSON.stringify(
    Object.fromEntries(keys.map((key) => [key, { ...record, type: `of ${key}` }])),
  );
  await planning.join.settle(batch, {
    results: async () =>
      (async function* () {
        yield Buffer.from(text);
      })(),
  });
  return [...tickets].map((ticket) => {
    const { verification, values } = planning.outcomes.get(planning.book.outcome(ticket));
    return `${verification} ${String(values?.[3] ?? '')}`.trim();
  });
}

it('gives the record of a key that may mean two addresses of a batch to neither', async () => {
  expect(await tell([mobile, landline], [either])).toEqual(['no_result', 'no_result']);
});

it('gives it to the one that is in the batch', async () => {
  expect(await tell([mobile], [either])).toEqual([`verified of ${either}`]);
  expect(await tell([landline], [either])).toEqual([`verified of ${either}`]);
});

it('gives each its own record when another key names it to the letter', async () => {
  expect(await tell([mobile, landline], [either, mobile, landline])).toEqual([
    `verified of ${mobile}`,
    `verified of ${landline}`,
  ]);
});

describe('spellings of which the service keeps one', () => {
  const sure = '+3902123456';
  const doubtful = '0039 02 123456';

  it.each([
    [[doubtful, '02 123456', sure], doubtful],
    [[doubtful, sure], sure],
    [[sure, '003902123456'], sure],
  ])('have its record: %s', async (cells, key) => {
    expect(await tell(cells, [key])).toEqual(cells.map(() => `verified of ${key}`));
  });

  it('have their own records where each has one', async () => {
    expect(await tell([sure, doubtful], [sure, doubtful])).toEqual([
      `verified of ${sure}`,
      `verified of ${doubtful}`,
    ]);
  });

  it('have none where two records may be theirs', async () => {
    expect(await tell([sure, '+3903902123456', doubtful], [sure, '+3903902123456'])).toEqual([
      `verified of ${sure}`,
      'verified of +3903902123456',
      'no_result',
    ]);
  });
});
