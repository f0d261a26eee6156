import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StagedOutcomes } from '../../../src/engine/results/staged-outcomes.js';

function entriesOf(staged: StagedOutcomes): [number, number][] {
  const { numbers, outcomes } = staged.toArrays();
  expect(outcomes).toHaveLength(numbers.length);
  return Array.from(numbers, (number, place) => [number, outcomes[place] ?? -1]);
}

describe('staged outcomes', () => {
  it('are kept as a map would keep them', () => {
    const anyNumber = fc.oneof(fc.nat(20), fc.nat(2 ** 31 - 1));
    const anyStep = fc.tuple(
      anyNumber,
      fc.nat(5),
      fc.constantFrom('stage', 'replace', 'take back'),
    );
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 200 }), (steps) => {
        const staged = new StagedOutcomes();
        const reference = new Map<number, number>();
        const before: [number, number][] = [];
        for (const [number, outcome, step] of steps) {
          if (step === 'stage') {
            before.push([staged.stage(number, outcome), reference.get(number) ?? -1]);
            if (!reference.has(number)) reference.set(number, outcome);
          } else if (step === 'replace') {
            staged.replace(number, outcome);
            reference.set(number, outcome);
          } else {
            staged.replace(number, undefined);
            reference.delete(number);
          }
        }
        expect(before.map(([was]) => was)).toEqual(before.map(([, expected]) => expected));
        expect(new Map(entriesOf(staged))).toEqual(reference);
      }),
    );
  });

  it('may be staged anew once they are taken back', () => {
    const staged = new StagedOutcomes();
    staged.stage(7, 1);
    staged.replace(7, undefined);
    staged.replace(8, undefined);
    expect(entriesOf(staged)).toEqual([]);
    expect(staged.stage(7, 2)).toBe(-1);
    expect(staged.stage(7, 3)).toBe(2);
    expect(entriesOf(staged)).toEqual([[7, 2]]);
  });

  it('stay right while they grow', () => {
    const staged = new StagedOutcomes();
    const numbers = Array.from({ length: 20_000 }, (_, index) => index * 7);
    for (const number of numbers) staged.stage(number, number % 30);
    expect(numbers.filter((number) => staged.stage(number, 99) !== number % 30)).toEqual([]);
    expect(entriesOf(staged)).toEqual(numbers.map((number) => [number, number % 30]));
  });
});
