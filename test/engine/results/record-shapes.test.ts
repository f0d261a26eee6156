import { describe, expect, it } from 'vitest';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { RecordShapes } from '../../../src/engine/results/record-shapes.js';
import { emailRecordOf } from './export-reading.js';

function bytesOf(value: unknown, indent?: number): Buffer {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value, null, indent));
}

/** A reader that has seen one record, and its table. */
function readerOf(seen: unknown, indent?: number) {
  const outcomes = new OutcomeTable();
  const shapes = new RecordShapes('email', outcomes);
  shapes.add(bytesOf(seen, indent));
  const read = (record: unknown): number => {
    const bytes = bytesOf(record, indent);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return shapes.read(bytes, view, 0, bytes.length);
  };
  return { outcomes, shapes, read };
}

describe('a record of a shape seen before', () => {
  it.each([undefined, 2])('has the outcome that parsing it has (white space: %s)', (indent) => {
    const { outcomes, read } = readerOf(emailRecordOf('a@example.com'), indent);
    for (const changes of [
      {},
      { valid: false, unknown: true },
      { result: 'ok_1', quality: '' },
      { is_role: null },
      { result: 'caf\u00e9 {"} \\ \u2028 \ud83d\ude00' },
    ]) {
      const record = emailRecordOf('b@example.com', changes);
      const id = read(record);
      expect(id).toBeGreaterThanOrEqual(0);
      expect(outcomes.idOfRecord('email', record)).toBe(id);
    }
  });

  it('has one outcome however its texts are spelt', () => {
    const { outcomes, read } = readerOf(emailRecordOf('a'));
    const spelt = (text: string): string =>
      JSON.stringify(emailRecordOf('a', { result: '*' })).replace('"*"', text);
    const ids = ['"\u00e9/"', '"\\u00e9/"', '"\\u00E9\\/"'].map((text) => read(spelt(text)));
    expect(new Set(ids).size).toBe(1);
    expect(outcomes.size).toBe(1);
  });

  it('has to be parsed when anything in it is not a word or a text, or its flags are no booleans', () => {
    const { outcomes, read } = readerOf(emailRecordOf('a'));
    for (const changes of [{ result: 1 }, { result: {} }, { quality: [] }, { valid: null }]) {
      expect(read(emailRecordOf('a', changes))).toBe(-1);
    }
    expect(read(emailRecordOf('a', { wrong: 'true' }))).toBe(-1);
    expect(read({ ...emailRecordOf('a'), more: true })).toBe(-1);
    expect(outcomes.size).toBe(0);
  });

  it('has to be parsed when an escape is broken, in whichever text', () => {
    const { read } = readerOf(emailRecordOf('a'));
    const broken = (text: string): string =>
      JSON.stringify(emailRecordOf('#', { result: '*' })).replace(text, '\\x');
    expect(read(broken('*'))).toBe(-1);
    expect(read(broken('#'))).toBe(-1);
    expect(read(JSON.stringify(emailRecordOf('a', { result: '*' })).replace('*', '\n'))).toBe(-1);
  });

  it('is not remembered when a name comes twice or a value is no word and no text', () => {
    for (const seen of [
      '{"valid":true,"wrong":true,"unknown":true,"valid":false}',
      '{"valid":true,"wrong":true,"unknown":true,"n":1}',
      '{}',
    ]) {
      const { read } = readerOf(seen);
      expect(read(seen)).toBe(-1);
    }
  });
});
