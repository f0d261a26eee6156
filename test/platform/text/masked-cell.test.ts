import { describe, expect, it } from 'vitest';
import { maskedCell } from '../../../src/platform/text/masked-cell.js';

describe('a masked cell', () => {
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
});
