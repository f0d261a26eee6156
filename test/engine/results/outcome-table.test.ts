import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { unicodeText } from '../../platform/text/unicode-text.js';
import { emailRecordOf, emailValues } from './export-reading.js';

const phoneRecord = {
  phone: '+14155550100',
  valid: true,
  wrong: false,
  unknown: false,
  type: 'mobile',
  status: 'active',
  is_syntax_error: false,
  is_ported: false,
  current_network_mcc: '310',
  current_network_mnc: null,
  operator: 'Example Mobile',
};

describe('outcomes without a record', () => {
  it('are stored once for each pair of verification and reason', () => {
    const table = new OutcomeTable();
    const first = table.idOf('not_submitted', 'empty');
    expect(table.idOf('failed', 'empty')).not.toBe(first);
    expect(table.idOf('not_submitted', 'empty')).toBe(first);
    expect(table.size).toBe(2);
    expect(table.get(first)).toEqual({
      verification: 'not_submitted',
      reason: 'empty',
      values: undefined,
      type: undefined,
    });
  });

  it('keep any reason to the letter', () => {
    const table = new OutcomeTable();
    fc.assert(
      fc.property(unicodeText(), (reason) => {
        expect(table.get(table.idOf('failed', reason)).reason).toBe(reason);
      }),
    );
  });
});

describe('outcomes with a record', () => {
  it('are distinguished by the known fields alone', () => {
    const table = new OutcomeTable();
    const id = table.idOfRecord('email', emailRecordOf('a@example.com'));
    expect(table.idOfRecord('email', emailRecordOf('b@example.com', { later: 1 }))).toBe(id);
    const { email: _, ...shuffled } = emailRecordOf('');
    const reversed = Object.fromEntries(Object.entries(shuffled).toReversed());
    expect(table.idOfRecord('email', reversed)).toBe(id);
    expect(table.idOfRecord('email', emailRecordOf('a', { quality: 'bad' }))).not.toBe(id);
    expect(table.size).toBe(2);
    expect(table.get(id)).toEqual({
      verification: 'verified',
      reason: '',
      values: emailValues(),
      type: 'email',
    });
  });

  it('hold the values in the order of the fields', () => {
    const table = new OutcomeTable();
    const { values, type } = table.get(table.idOfRecord('phone', phoneRecord));
    expect(type).toBe('phone');
    expect(values).toEqual(Object.values(phoneRecord).slice(1));
  });

  it('of the two types never meet', () => {
    const table = new OutcomeTable();
    const flags = { valid: true, wrong: false, unknown: false };
    expect(table.idOfRecord('email', flags)).not.toBe(table.idOfRecord('phone', flags));
  });

  it.each([
    ['a word that is new', 'splendid', 'splendid'],
    ['nothing', undefined, null],
    ['null', null, null],
    ['a number', 1.5, '1.5'],
    ['a large number', 1e21, '1e+21'],
    ['an object', { a: [1, 'b'] }, '{"a":[1,"b"]}'],
    ['an array', [], '[]'],
    ['an empty text', '', ''],
    ['a digit as text', '1', '1'],
    ['half a surrogate pair', '\ud800', '\ud800'],
  ])('read %s in a field that is no flag', (_, given, value) => {
    const table = new OutcomeTable();
    const id = table.idOfRecord('email', emailRecordOf('a', { quality: given, is_free: given }));
    expect(table.get(id).values).toEqual(emailValues({ quality: value, is_free: value }));
  });

  it.each(['valid', 'wrong', 'unknown'])('need the flag %s to be a boolean', (flag) => {
    const table = new OutcomeTable();
    for (const value of [undefined, null, 0, 1, 'true', {}, []]) {
      expect(table.idOfRecord('email', emailRecordOf('a', { [flag]: value }))).toBe(-1);
    }
    const record = emailRecordOf('a');
    delete record[flag];
    expect(table.idOfRecord('email', record)).toBe(-1);
    expect(table.size).toBe(0);
  });

  it('are read from what the record holds itself', () => {
    const table = new OutcomeTable();
    const heir = Object.create(emailRecordOf('a')) as Record<string, unknown>;
    expect(table.idOfRecord('email', heir)).toBe(-1);
    Object.assign(heir, { valid: true, wrong: false, unknown: false });
    expect(table.get(table.idOfRecord('email', heir)).values?.slice(3)).toEqual(
      Array.from({ length: 7 }, () => null),
    );
  });
});

describe('the table', () => {
  it('keeps every id valid, however many there are', () => {
    const table = new OutcomeTable();
    const idOf = (index: number) =>
      table.idOfRecord('phone', { ...phoneRecord, operator: `Operator ${index}` });
    const count = 5000;
    for (let index = 0; index < count; index += 1) expect(idOf(index)).toBe(index);
    for (let index = count - 1; index >= 0; index -= 1) {
      expect(idOf(index)).toBe(index);
      expect(table.get(index).values?.at(-1)).toBe(`Operator ${index}`);
    }
    expect(table.size).toBe(count);
  });

  it('knows no id but those it gave', () => {
    const table = new OutcomeTable();
    for (const id of [-1, 0, 1, 0.5]) expect(() => table.get(id)).toThrow(RangeError);
    table.idOf('failed', 'x');
    expect(table.get(0).reason).toBe('x');
    expect(() => table.get(1024)).toThrow(RangeError);
  });
});
