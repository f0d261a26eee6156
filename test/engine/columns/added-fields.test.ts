import { describe, expect, it } from 'vitest';
import {
  addedColumns,
  addedFields,
  outcomeCells,
} from '../../../src/engine/columns/added-fields.js';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { emailRecordOf, emailValues } from '../results/export-reading.js';

function namesOf(...of: Parameters<typeof addedColumns>): string {
  return addedColumns(...of)
    .map(({ name }) => name)
    .join(' ');
}

describe('the added columns', () => {
  it('stand in the order that the interface names', () => {
    expect(namesOf('email', 'mail')).toBe(
      'mail_verification mail_reason mail_valid mail_wrong mail_unknown mail_quality mail_result ' +
        'mail_is_syntax_error mail_is_free mail_is_role mail_is_disposable mail_is_catch_all',
    );
    expect(namesOf('phone', 'p')).toBe(
      'p_verification p_reason p_valid p_wrong p_unknown p_type p_status p_is_syntax_error ' +
        'p_is_ported p_current_network_mcc p_current_network_mnc p_operator',
    );
  });

  it('are booleans where the record has a flag, whatever they are called, and text elsewhere', () => {
    const flags = (type: 'email' | 'phone'): string[] =>
      addedColumns(type, 'who_is', addedFields[type]).flatMap(({ field, kind }) =>
        kind === 'boolean' ? [field] : [],
      );
    expect(flags('email').join(' ')).toBe(
      'valid wrong unknown is_syntax_error is_free is_role is_disposable is_catch_all',
    );
    expect(flags('phone').join(' ')).toBe('valid wrong unknown is_syntax_error is_ported');
  });

  it.each(['email', 'phone'] as const)('of type %s have one cell each', (type) => {
    const table = new OutcomeTable();
    const id = table.idOfRecord(type, { valid: false, wrong: true, unknown: false });
    const columns = addedColumns(type, 'c', addedFields[type]);
    expect(outcomeCells(table.get(id), type)).toHaveLength(columns.length);
    expect(outcomeCells(table.get(table.idOf('failed', 'x')), type)).toHaveLength(columns.length);
  });

  it('hold the record when verified, with no reason', () => {
    const table = new OutcomeTable();
    const outcome = table.get(table.idOfRecord('email', emailRecordOf('a')));
    expect(outcomeCells(outcome, 'email').slice(0, 12)).toEqual(['verified', '', ...emailValues()]);
    expect(() => outcomeCells(outcome, 'phone')).toThrow(TypeError);
  });

  it('hold nothing but the reason when not', () => {
    const table = new OutcomeTable();
    const outcome = table.get(table.idOf('no_result', 'no_record'));
    const nothing = Array.from({ length: 14 }, () => null);
    expect(outcomeCells(outcome, 'phone')).toEqual(['no_result', 'no_record', ...nothing]);
  });
});
