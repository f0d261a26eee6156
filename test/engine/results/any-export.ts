import fc from 'fast-check';
import { recordFields } from '../../../src/contract/records.js';
import type { OutcomeValue } from '../../../src/engine/results/outcome-table.js';
import { unicodeText } from '../../platform/text/unicode-text.js';
import { createRandom, type OddJson } from './odd-json.js';

/** What the reader is to make of a member's value, worked out without it. */
function expectedValues(
  type: 'email' | 'phone',
  value: unknown,
): readonly OutcomeValue[] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const own = new Map(Object.entries(value));
  if (['valid', 'wrong', 'unknown'].some((flag) => typeof own.get(flag) !== 'boolean')) {
    return undefined;
  }
  return recordFields[type].map((field) => {
    const cell: unknown = own.get(field) ?? null;
    if (cell === null || typeof cell === 'string' || typeof cell === 'boolean') return cell;
    return typeof cell === 'number' ? String(cell) : JSON.stringify(cell);
  });
}

export const anyText = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
  unicodeText({ maxLength: 6 }),
  fc.constantFrom(
    'a@example.com',
    'jos\u00e9@example.com',
    'details',
    '__proto__',
    '\ufeff',
    'email',
  ),
);
const anyNumber = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const anyOddJson = fc.letrec<{ value: OddJson; members: [string, OddJson][] }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyText,
    anyNumber,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.record({ members: tie('members') }),
  ),
  members: fc.array(fc.tuple(anyText, tie('value')), { maxLength: 3 }),
}));

function anyRecord(type: 'email' | 'phone'): fc.Arbitrary<OddJson> {
  const fields = fc.tuple(
    ...recordFields[type].map((field): fc.Arbitrary<[string, OddJson][]> => {
      const isFlag = field === 'valid' || field === 'wrong' || field === 'unknown';
      const usual = fc.boolean().map((value): [string, OddJson][] => [[field, value]]);
      const odd = anyOddJson.value.map((value): [string, OddJson][] => [[field, value]]);
      const repeated = fc
        .tuple(anyOddJson.value, fc.boolean())
        .map(([first, last]): [string, OddJson][] => [
          [field, first],
          [field, last],
        ]);
      return fc.oneof(
        { weight: 12, arbitrary: usual },
        { weight: isFlag ? 0 : 4, arbitrary: odd },
        { weight: isFlag ? 0 : 1, arbitrary: fc.constant<[string, OddJson][]>([]) },
        { weight: 1, arbitrary: repeated },
      );
    }),
  );
  const extra = fc.oneof(
    { weight: 3, arbitrary: fc.constant<[string, OddJson][]>([]) },
    fc.array(fc.tuple(anyText, anyOddJson.value), { maxLength: 2 }),
    anyOddJson.value.map((value): [string, OddJson][] => [[type, value]]),
  );
  return fc
    .tuple(anyText, fields, extra, fc.boolean(), fc.nat())
    .map(([address, lists, more, isShuffled, seed]) => {
      const members: [string, OddJson][] = [[type, address], ...lists.flat(), ...more];
      const random = createRandom(seed);
      // Repeats keep their order among each other: which is last matters.
      return {
        members: isShuffled
          ? members
              .map((member, index) => ({ member, index: index + Math.floor(random() * 3) * 100 }))
              .toSorted((a, b) => a.index - b.index)
              .map(({ member }) => member)
          : members,
      };
    });
}

/** A member under a random key: a record most of the time. */
export function anyMember(type: 'email' | 'phone'): fc.Arbitrary<[string, OddJson]> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.tuple(anyText, anyRecord(type)) },
    { weight: 1, arbitrary: fc.tuple(anyText, anyOddJson.value) },
  );
}

/** The records among members, as the reader is to report them. */
export function expectedRecords(
  type: 'email' | 'phone',
  members: readonly (readonly [string, unknown])[],
): (readonly [string, readonly OutcomeValue[]])[] {
  return members.flatMap(([key, value]) => {
    const values = expectedValues(type, value);
    return values ? [[key, values] as const] : [];
  });
}
