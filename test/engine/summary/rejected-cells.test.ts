import { describe, expect, it } from 'vitest';
import { layOutColumns } from '../../../src/engine/columns/column-layout.js';
import { MemoryStorage } from '../../../src/engine/plan/batch-cutter.js';
import { Plan } from '../../../src/engine/plan/plan.js';
import { RejectedCells } from '../../../src/engine/summary/rejected-cells.js';
import {
  type CellText,
  invalidText,
  type RowChunk,
} from '../../../src/lists/rows/chunks/row-chunk.js';

/** Looks at rows of an email and a country, each with how it ended. */
function refusedOf(
  rows: readonly (readonly [email: string, country: CellText, ending: string])[],
): RejectedCells {
  const layout = layOutColumns(['mail', 'Land'], { email: ['mail'], countryColumn: 'Land' });
  const plan = new Plan({
    layout,
    country: undefined,
    batchSize: 10,
    storage: new MemoryStorage(),
  });
  const ids = rows.map(([, , ending]) =>
    ending === 'no_record'
      ? plan.outcomes.idOf('no_result', ending)
      : ending === 'valid'
        ? plan.outcomes.idOfRecord('email', { valid: true, wrong: false, unknown: false })
        : plan.outcomes.idOf('not_submitted', ending),
  );
  const chunk: RowChunk = {
    length: rows.length,
    byteSize: 0,
    text: (row, column) => rows[row]?.[column],
  };
  const refused = new RejectedCells(plan);
  refused.add(Uint32Array.from(ids), { chunk, from: 0 });
  return refused;
}

function times<Row>(count: number, row: Row): readonly Row[] {
  return Array.from({ length: count }, () => row);
}

const good = ['a@x.example', 'DE', 'valid'] as const;
const bad = (country: string) => ['a@x.example', country, 'country_unsupported'] as const;

describe('countries that keep rows from being sent', () => {
  it('are nothing where all are understood', () => {
    expect(refusedOf([good, good]).countries()).toBeUndefined();
  });

  it('are counted by row, with the commonest ten cells and a guess', () => {
    const seldom = Array.from({ length: 12 }, (_, at) => times(2, bad(`Xyz${'q'.repeat(at)}land`)));
    const rows = [
      ...times(60, good),
      ...times(23, bad(' Germny ')),
      ...seldom.flat(),
      ...times(4, ['a@x.example', '', 'country_missing'] as const),
    ];
    const countries = refusedOf(rows).countries();
    expect(countries).toMatchObject({
      column: 'Land',
      missing: 4,
      not_understood: 47,
      looks_like_countries: true,
    });
    expect(countries?.values).toHaveLength(10);
    expect(countries?.values[0]).toEqual({
      value: 'Germny',
      rows: 23,
      first_row: 61,
      guess: 'Germany',
      code: 'DE',
    });
  });

  it('are counted where their bytes are no text', () => {
    const noText = ['a@x.example', invalidText, 'country_unsupported'] as const;
    const countries = refusedOf([good, ...times(2, noText), bad('Germny')]).countries();
    expect(countries).toMatchObject({ not_understood: 3, no_text: 2 });
    expect(countries?.values).toHaveLength(1);
  });

  it('show no cell that may be personal: of a row that slipped, or of a column of names', () => {
    const slipped = refusedOf([
      ...times(9, good),
      bad('Ada Lovelace'),
      bad('ada@x.example'),
      ...times(2, bad('Rue 12')),
      bad('XK'),
    ]).countries();
    expect(slipped?.looks_like_countries).toBe(true);
    expect(slipped?.values.map(({ value }) => value)).toEqual([
      '••• ••',
      '••• ••••••••',
      '•••@•.•••••••',
      'XK',
    ]);
    const names = ['Ada', 'Bo', 'Cy', 'Germny'];
    const column = refusedOf(names.flatMap((name) => times(3, bad(name)))).countries();
    expect(column?.looks_like_countries).toBe(false);
    expect(column?.values.map(({ value }) => value)).toEqual(['•••', '••', '••', '••••••']);
  });
});

describe('emails that are written as something else', () => {
  it('are counted by reason and form', () => {
    const cells = [
      ['mailto:a@x.example', 'no_record'],
      ['Ada <ada@x.example>', 'no_record'],
      ['a@x.example; b@x.example', 'no_record'],
      ['a@x.example, b@x.example', 'contains_comma'],
      ['a,b@x.example', 'contains_comma'],
      ['nobody', 'no_record'],
      ['mail', 'no_record'],
      [' Mail', 'no_record'],
      ['a@x..example', 'no_record'],
    ] as const;
    const refused = refusedOf(cells.map(([cell, ending]) => [cell, 'DE', ending]));
    expect(refused.forms(0)).toEqual({
      no_record: { mailto: 1, named: 1, several: 1, no_at: 1, header: 2 },
      contains_comma: { several: 1, beside: 1 },
    });
    expect(refusedOf([good]).forms(0)).toBeUndefined();
  });
});
