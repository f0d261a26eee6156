import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  type BatchAddresses,
  type MatchedExport,
  matchExport,
} from '../../../src/engine/results/match-export.js';
import { StagedOutcomes } from '../../../src/engine/results/staged-outcomes.js';
import { OutcomeTable } from '../../../src/engine/results/outcome-table.js';
import { bodyOf, cutEvery, emailRecordOf } from './export-reading.js';

/** A batch whose addresses have other numbers than their places. */
function batchOf(
  lines: readonly string[],
  normalForm: (key: string) => string = (key) => key.trim().normalize('NFC').toLowerCase(),
) {
  const numberOf = (place: number) => 1_000_000 + place * 3;
  const linesOf = vi.fn<BatchAddresses['linesOf']>(
    async (numbers) =>
      new Map(
        lines.flatMap((line, place) =>
          numbers.has(numberOf(place)) ? [[numberOf(place), line] as const] : [],
        ),
      ),
  );
  const addresses: BatchAddresses = {
    candidates(key) {
      const found = lines.flatMap((line, place) =>
        normalForm(line) === normalForm(key) ? [numberOf(place)] : [],
      );
      return found.length > 1 ? found : (found[0] ?? -1);
    },
    linesOf,
  };
  return { addresses, linesOf, numberOf };
}

type Records = readonly (readonly [key: string, quality: string, own?: string])[];

function writeExport(records: Records): Buffer {
  const members = records.map(
    ([key, quality, own = key]) =>
      `${JSON.stringify(key)}:${JSON.stringify(emailRecordOf(own, { quality }))}`,
  );
  return Buffer.from(`{${members.join(',')}}`);
}

async function match(
  lines: readonly string[],
  records: Records,
  normalForm?: (key: string) => string,
) {
  const { addresses, linesOf, numberOf } = batchOf(lines, normalForm);
  const outcomes = new OutcomeTable();
  const bytes = writeExport(records);
  const open = vi.fn<() => Promise<AsyncIterable<Uint8Array>>>(async () =>
    bodyOf(cutEvery(bytes, 500)),
  );
  const matched = await matchExport(open, addresses, { type: 'email', outcomes });
  const qualities = new Map(
    Array.from(matched.numbers, (number, place) => [
      number,
      outcomes.get(matched.outcomes[place] ?? -1).values?.[3],
    ]),
  );
  const results = lines.map((_, place) => qualities.get(numberOf(place)));
  expect(qualities.size).toBe(results.filter((result) => result !== undefined).length);
  return { matched, results, open, linesOf };
}

function counts({ records, extra, repeated, ambiguous, others }: MatchedExport) {
  return { records, extra, repeated, ambiguous, others };
}

describe('the export of a batch', () => {
  it.each([1, 100])(
    'gives no address the record that calls itself another (%i alike)',
    async (alike) => {
      const lines = [
        'a@x.de',
        'b@x.de',
        ...Array.from({ length: alike }, (_, at) => `c${at}@x.de`),
      ];
      const plain = lines.slice(2).map((line) => [line, 'good'] as const);
      const { matched, results } = await match(lines, [
        ...plain,
        ['a@x.de', 'good', 'b@x.de'],
        ['b@x.de', 'good', 'A@x.de'],
      ]);
      expect(counts(matched)).toMatchObject({ records: alike + 2, extra: 2, ambiguous: 0 });
      expect(results).toEqual([undefined, undefined, ...plain.map(() => 'good')]);
    },
  );

  it('does not believe such a record in a second reading either', async () => {
    const { matched, results } = await match(
      ['a@x.de', 'b@x.de'],
      [
        ['a@x.de', 'one'],
        ['A@x.de', 'two'],
        ['a@x.de', 'three', 'b@x.de'],
        ['b@x.de', 'four', 'a@x.de'],
      ],
    );
    expect(counts(matched)).toMatchObject({ extra: 2, repeated: 1 });
    expect(results).toEqual(['one', undefined]);
  });

  it('believes the key of a record that calls itself what no address is, and counts it', async () => {
    const { matched, results } = await match(
      ['Jo.Doe+list@x.de', 'B@x.de', 'ü@x.de'],
      [
        ['Jo.Doe+list@x.de', 'one', 'jodoe@x.de'],
        ['B@x.de', 'two', 'b@x.de'],
        ['ü@x.de', 'three', 'u\u0308@x.de'],
      ],
    );
    expect(counts(matched)).toMatchObject({ records: 3, extra: 1, ambiguous: 0 });
    expect(results).toEqual(['one', 'two', 'three']);
  });

  it('is matched by its keys as submitted, in any order, in one reading', async () => {
    const { matched, results, open, linesOf } = await match(
      ['a@x.de', 'B@x.de', 'c@x.de'],
      [
        ['c@x.de', 'three'],
        ['a@x.de', 'one'],
        ['B@x.de', 'two'],
      ],
    );
    expect(results).toEqual(['one', 'two', 'three']);
    expect(counts(matched)).toEqual({ records: 3, extra: 0, repeated: 0, ambiguous: 0, others: 0 });
    expect(open).toHaveBeenCalledTimes(1);
    expect(linesOf).not.toHaveBeenCalled();
  });

  it('is matched by keys in another form that can mean one address alone', async () => {
    const { results } = await match(
      ['Anna@X.de', 'jos\u00e9@x.de'],
      [
        ['anna@x.de', 'one'],
        [' jose\u0301@x.de ', 'two'],
      ],
    );
    expect(results).toEqual(['one', 'two']);
  });

  it('leaves addresses without a record without a result, and counts records of no address', async () => {
    const { matched, results } = await match(
      ['a@x.de', 'b@x.de'],
      [
        ['z@x.de', 'other'],
        ['b@x.de', 'two'],
      ],
    );
    expect(results).toEqual([undefined, 'two']);
    expect(counts(matched)).toMatchObject({ records: 2, extra: 1 });
  });

  it('may repeat an address with the same result', async () => {
    const { matched, results, open } = await match(
      ['a@x.de'],
      [
        ['a@x.de', 'one'],
        ['A@x.de', 'one'],
        ['a@x.de', 'one'],
      ],
    );
    expect(results).toEqual(['one']);
    expect(counts(matched)).toMatchObject({ repeated: 2, ambiguous: 0 });
    expect(open).toHaveBeenCalledTimes(1);
  });

  it.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 0, 2]]])(
    'gives the exact key the word when others disagree, in order %s',
    async (order) => {
      const records: Records = [
        ['a@x.de', 'lower'],
        ['A@x.de', 'exact'],
        ['A@X.DE', 'upper'],
      ];
      const { matched, results, open, linesOf } = await match(
        ['A@x.de', 'b@x.de'],
        [...order.flatMap((place) => records.slice(place, place + 1)), ['b@x.de', 'two']],
      );
      expect(results).toEqual(['exact', 'two']);
      expect(counts(matched)).toMatchObject({ records: 4, repeated: 2, ambiguous: 0 });
      expect(open).toHaveBeenCalledTimes(2);
      expect(linesOf.mock.calls).toEqual([[new Set([1_000_000])]]);
    },
  );

  it('makes no guess when keys in other forms disagree and none is exact', async () => {
    const { matched, results } = await match(
      ['A@x.de', 'b@x.de'],
      [
        ['a@x.de', 'one'],
        ['A@X.de', 'two'],
        ['b@x.de', 'three'],
      ],
    );
    expect(results).toEqual([undefined, 'three']);
    expect(counts(matched)).toMatchObject({ repeated: 1, ambiguous: 1 });
  });

  it('has no result for an address whose exact key has two records that contradict each other', async () => {
    const { matched, results } = await match(
      ['a@x.de', 'b@x.de'],
      [
        ['a@x.de', 'one'],
        ['A@x.de', 'one'],
        ['a@x.de', 'three'],
        ['a@x.de', 'one'],
        ['b@x.de', 'two'],
        ['b@x.de', 'two'],
      ],
    );
    expect(results).toEqual([undefined, 'two']);
    expect(counts(matched)).toMatchObject({ repeated: 4, ambiguous: 1 });
  });

  it('keeps nothing of strangers, however many they are and however they differ', async () => {
    const strangers = 5000;
    const { addresses } = batchOf(['a@x.de', 'b@x.de']);
    const outcomes = new OutcomeTable();
    const records = Array.from(
      { length: strangers },
      (_, index) => [`stranger${index}@x.de`, `quality ${index}`] as const,
    );
    const bytes = writeExport([['a@x.de', 'one'], ...records, ['b@x.de', 'two']]);
    const matched = await matchExport(async () => bodyOf(cutEvery(bytes, 500)), addresses, {
      type: 'email',
      outcomes,
    });
    expect(counts(matched)).toMatchObject({ records: strangers + 2, extra: strangers });
    expect(outcomes.size).toBe(2);
    expect(matched.numbers).toHaveLength(2);
  });

  const digits = (key: string) => key.replace('+', '');

  it('tells addresses of one normal form by their exact keys', async () => {
    const { matched, results } = await match(
      ['33612345678', '+33612345678', '+49301234567'],
      [
        ['+33612345678', 'plus'],
        ['33612345678', 'none'],
        ['49301234567', 'other'],
      ],
      digits,
    );
    expect(results).toEqual(['none', 'plus', 'other']);
    expect(counts(matched)).toMatchObject({ repeated: 0, ambiguous: 0, extra: 0 });
  });

  it('makes no guess between addresses of one normal form', async () => {
    const { matched, results } = await match(['33 6', '+336'], [['336', 'one']], (key) =>
      digits(key).replace(' ', ''),
    );
    expect(results).toEqual([undefined, undefined]);
    expect(counts(matched)).toMatchObject({ ambiguous: 2 });
  });

  it('is matched as the rule says, whatever keys and results come', async () => {
    const anyKey = fc.constantFrom('a', 'A', '+a', 'b', 'B', '+b', '+B', 'c', 'x', 'X');
    const anyRecords = fc.array(fc.tuple(anyKey, fc.constantFrom('one', 'two')), { maxLength: 10 });
    const normalForm = (key: string) => digits(key).toLowerCase();
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anyKey.filter((key) => key.toLowerCase() !== 'x')),
        anyRecords,
        async (lines, records) => {
          const { results, matched } = await match(lines, records, normalForm);
          const like = (key: string) =>
            lines.filter((line) => normalForm(line) === normalForm(key));
          const expected = lines.map((line) => {
            const exact = records.filter(([key]) => key === line).map(([, quality]) => quality);
            if (exact.length > 0) return new Set(exact).size === 1 ? exact[0] : undefined;
            const others = records.filter(
              ([key]) => normalForm(key) === normalForm(line) && !lines.includes(key),
            );
            const distinct = new Set(others.map(([, quality]) => quality));
            const isSole = others.every(([key]) => like(key).length === 1);
            return distinct.size === 1 && isSole ? others[0]?.[1] : undefined;
          });
          expect(results).toEqual(expected);
          const extra = records.filter(([key]) => like(key).length === 0).length;
          expect(matched).toMatchObject({ records: records.length, extra });
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is refused as a whole when either reading is cut short', async () => {
    const whole = writeExport([
      ['a', 'one'],
      ['A', 'two'],
    ]);
    const part = whole.subarray(0, -1);
    const refused = { code: 'broken_contract', retryable: true };
    for (const bodies of [[part], [whole, part]]) {
      const left = [...bodies];
      const open = async () => bodyOf([left.shift() ?? Buffer.alloc(0)]);
      const matching = matchExport(open, batchOf(['a']).addresses, {
        type: 'email',
        outcomes: new OutcomeTable(),
      });
      await expect(matching).rejects.toMatchObject(refused);
      expect(left).toHaveLength(0);
    }
  });

  it('may hold sections', async () => {
    const { addresses } = batchOf(['a']);
    const bytes = Buffer.from(
      `{"a":{"b":1},"details":[],${writeExport([['a', 'one']])
        .toString()
        .slice(1)}`,
    );
    const matched = await matchExport(async () => bodyOf([bytes]), addresses, {
      type: 'email',
      outcomes: new OutcomeTable(),
    });
    expect(counts(matched)).toEqual({ records: 1, extra: 0, repeated: 0, ambiguous: 0, others: 2 });
  });
});

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
