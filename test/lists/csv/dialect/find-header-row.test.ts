import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findHeaderRow } from '../../../../src/lists/csv/dialect/find-header-row.js';

const header = ['Name', 'Email', 'City', 'Note'];
const data = ['Ann', 'ann@sluice.test', 'Rome', ''];

describe('findHeaderRow', () => {
  it.each<[string, number, unknown[][]]>([
    ['the first row of a table', 0, [header, data]],
    ['below a title', 1, [['Contacts'], header, data]],
    ['below a title that is filled up', 1, [['Contacts', '', '', ''], header, data]],
    ['below empty lines', 2, [[''], ['', '', '', ''], header, data]],
    [
      'below words with numbers and addresses',
      2,
      [['Total: 12'], ['ann@sluice.test'], header, data],
    ],
    ['below a date of its own', 2, [['Contacts'], ['12.01.2026'], header, data]],
    ['below a filled-up date', 2, [['Contacts', '', '', ''], ['2026', '', '', ''], header, data]],
    ['below pairs of words', 3, [['Owner', 'Ann'], ['Rows', '120'], [''], header, data]],
    ['above rows without addresses', 1, [['Contacts'], header, ['Bo', '', '', ''], data]],
    ['above numbers, dates and truth values', 1, [['List'], ['Id', 'On'], [7, new Date(0)]]],
    ['of one column, below an empty line', 1, [[''], ['email'], ['ann@sluice.test']]],
    ['above rows that are shorter', 1, [['Contacts'], header, ['Ann', 'ann@sluice.test']]],
  ])('finds a header: %s', (_, at, rows) => {
    expect(findHeaderRow(rows)).toBe(at);
  });

  it('never passes over a first row that is filled, and as wide as any', () => {
    const cell = fc.constantFrom(
      '',
      'Ann',
      'Email',
      'ann@sluice.test',
      '12',
      '2026-01-12',
      null,
      7,
    );
    const tables = fc.integer({ min: 1, max: 5 }).chain((width) =>
      fc.tuple(
        fc.array(fc.constantFrom('Name', 'Email', '7', 'a@b'), {
          minLength: width,
          maxLength: width,
        }),
        fc.array(fc.array(cell, { maxLength: width }), { maxLength: 12 }),
      ),
    );
    fc.assert(
      fc.property(tables, ([first, rows]) => {
        const found = findHeaderRow([first, ...rows]);
        return found === 0 || typeof found === 'string';
      }),
      { numRuns: 2000 },
    );
  });

  it.each<[string, unknown[][]]>([
    ['a list without a header', [data, data]],
    ['rows below a title, without a header', [['Contacts'], data, data]],
    [
      'a first row that has no name for one column',
      [
        ['', 'email', 'city'],
        ['0', 'a@b', 'Rome'],
      ],
    ],
    [
      'a title that fills half of its row',
      [
        ['Fair', ''],
        ['Name', 'Email'],
        ['Ann', 'a@b'],
      ],
    ],
    ['a header that is narrower than its rows', [['Contacts'], ['Name', 'Email'], data, data]],
    ['addresses, one a line', [['email'], ['ann@sluice.test'], ['bob@sluice.test']]],
    ['a header without rows', [['Contacts'], header]],
  ])('finds none above the first row: %s', (_, rows) => {
    const found = findHeaderRow(rows);
    expect(found === 0 || typeof found === 'string').toBe(true);
  });
});
