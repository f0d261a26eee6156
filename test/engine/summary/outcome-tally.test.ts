import { expect, it } from 'vitest';
import type { Plan } from '../../../src/engine/plan/plan.js';
import { MisspeltDomains } from '../../../src/engine/summary/outcome-tally.js';

const cells: Readonly<Record<number, string>> = { 0: 'ann@gmial.com', 1: 'ann@gmail.com' };
const chunk = { text: (row: number) => cells[row % 2] } as never;

/** Counts 1,500 rows in three chunks; every other email is misspelt. */
function counted(added: readonly string[]) {
  const columns = [
    { type: 'phone', position: 1, name: 'mobile' },
    { type: 'email', position: 0, name: 'email' },
  ];
  const layout = {
    columns,
    added: [[], added.map((field) => ({ name: `email_${field}`, field }))],
  };
  const misspelt = new MisspeltDomains({ layout } as unknown as Plan);
  for (let each = 0; each < 3; each += 1) misspelt.add({ chunk, from: 0 }, 500);
  return [misspelt.of(0), misspelt.of(1)];
}

it('counts misspelt domains of emails in all rows where suggestions are written', () => {
  expect(counted(['valid', 'suggestion'])).toEqual([
    undefined,
    { cells: 750, of_rows: 1500, suggested_in: 'email_suggestion' },
  ]);
});

it('looks at the first 1,000 rows where none are', () => {
  expect(counted(['valid'])).toEqual([
    undefined,
    { cells: 500, of_rows: 1000, suggested_in: null },
  ]);
});
