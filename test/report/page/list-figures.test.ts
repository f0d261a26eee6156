import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TopCounts, ReasonExamples } from '../../../src/report/page/list-figures.js';
import { exampleFigures } from './example-report.js';

describe('the most frequent words', () => {
  it('are exact while they fit', () => {
    const counts = new TopCounts(2);
    for (const [word, way] of [
      ['b', 0],
      ['a', 1],
      ['b', 1],
      ['c', 0],
    ] as const)
      counts.add(word, way);
    expect(counts.top(2)).toEqual({
      counts: [
        { word: 'b', total: 2, ways: [1, 1] },
        { word: 'a', total: 1, ways: [0, 1] },
      ],
      words: 3,
      missing: 0,
    });
  });

  it('miss at most as many as they say when words had to be forgotten', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 60 }), { maxLength: 600 }), (numbers) => {
        const counts = new TopCounts(1, 8);
        const exact = new Map<string, number>();
        for (const number of numbers) {
          const word = `w${Math.floor(Math.sqrt(number))}`;
          counts.add(word, 0);
          exact.set(word, (exact.get(word) ?? 0) + 1);
        }
        const { counts: top, missing } = counts.top(100);
        expect(top.length).toBeLessThanOrEqual(8);
        const seen = new Map(top.map(({ word, total }) => [word, total]));
        for (const [word, count] of exact) {
          const total = seen.get(word) ?? 0;
          expect(total).toBeLessThanOrEqual(count);
          expect(count - total).toBeLessThanOrEqual(missing);
        }
      }),
    );
  });

  it('of a list are its domains, in one case and trimmed, and its operators', () => {
    const figures = exampleFigures();
    expect(figures.domains.top(5).counts).toEqual([
      { word: 'example.com', total: 3, ways: [1, 1, 0, 1] },
    ]);
    expect(figures.operators.top(5).counts).toEqual([
      { word: 'Acme Mobile', total: 4, ways: [4, 0, 0, 0] },
    ]);
  });
});

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
