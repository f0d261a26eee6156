import { describe, expect, it } from 'vitest';
import { maskedCell } from '../../../src/papers/report/masked-cell.js';
import { ReasonExamples } from '../../../src/papers/report/reason-examples.js';

describe('a cell in the report', () => {
  it.each([
    ['ulrike.sauer@sauer-soehne,example', '••••••.•••••@sauer-soehne,•••••••'],
    ['a@x.example, Ann Smith', '•@x.example, ••• •••••'],
    ['"Ann Smith" <ann@x.example>', '"••• •••••" <•••@x.example>'],
    [' Ann O’Hara ', '••• •’••••'],
    ['ann@@x..example', '•••@@x..example'],
    ['山田@例え.example', '••@例え.example'],
    ['e\u0301@x.example', '••@x.example'],
  ])('keeps the domain of %s, and its form', (cell, form) => {
    expect(maskedCell(cell, true)).toBe(form);
  });

  it.each([
    ['+49 30 23125777', '+49 3• ••••••••'],
    ['(212) 555-0143', '(212) •••-••••'],
    ['4.91702E+11', '4.91••••+••'],
    ['1-800-FLOWERS', '1-80•-•••••••'],
    ['Ann Smith', '••• •••••'],
    ['call 4917', '•••• ••••'],
  ])('keeps the first three digits of %s, and its form', (cell, form) => {
    expect(maskedCell(cell, false)).toBe(form);
  });

  it('is no longer than a line', () => {
    expect(maskedCell('a'.repeat(1000), true)).toBe(`${'•'.repeat(47)}…`);
  });

  it('is one of the first five of its reason, with its row', () => {
    const examples = new ReasonExamples(true);
    for (let row = 1; row <= 9; row += 1) examples.add('contains_comma', row, `${row},@x.example`);
    examples.add('invalid_encoding', 10, undefined);
    for (let reason = 0; reason < 100; reason += 1) examples.add(`word ${reason}`, 11, '');
    expect(examples.of('contains_comma').map(({ row }) => row)).toEqual([1, 2, 3, 4, 5]);
    expect(examples.of('contains_comma')[0]?.form).toBe('•,@x.example');
    expect(examples.of('invalid_encoding')).toEqual([{ row: 10, form: '' }]);
    expect(examples.of('word 99')).toEqual([]);
  });
});
