import { describe, expect, it } from 'vitest';
import { ReasonExamples } from '../../../src/report/page/list-figures.js';

describe('a cell in the report', () => {
  it('is one of the first five of its reason, with its row', () => {
    const examples = new ReasonExamples(true);
    for (let row = 1; row <= 9; row += 1)
      examples.add('contains_comma', { row }, `${row},@x.example`);
    examples.add('invalid_encoding', { row: 10 }, undefined);
    for (let reason = 0; reason < 100; reason += 1) examples.add(`word ${reason}`, { row: 11 }, '');
    expect(examples.of('contains_comma').map(({ row }) => row)).toEqual([1, 2, 3, 4, 5]);
    expect(examples.of('contains_comma')[0]?.form).toBe('•,@x.example');
    expect(examples.of('invalid_encoding')).toEqual([{ row: 10, form: '' }]);
    expect(examples.of('word 99')).toEqual([]);
  });
});
