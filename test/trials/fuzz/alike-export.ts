import fc from 'fast-check';

const names = ['email', 'valid', 'wrong', 'unknown', 'quality', 'result', 'is_free', 'extra'];

/** Values as they are written, most of them such that the record can be read without being parsed. */
const written = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('true', 'false') },
  { weight: 4, arbitrary: fc.constantFrom('"ok"', '"good"', '"a@b.example"', '""', 'null') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...['"\\u00e9"', '"é"', '"{\\"1\\"}"', '"\\\\"', '"a\\/b"', '"a/b"', '"\\ud800"'].concat([
        '1',
        '-0.5e3',
        '{}',
        '[1,"]"]',
        '{"valid":true}',
      ]),
    ),
  },
);
const flag = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('true', 'false') },
  { weight: 1, arbitrary: written },
);

/** An export whose records have the same members in the same order, and values of any kind. */
export const alikeExport: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.shuffledSubarray(names, { minLength: 5 }),
    fc.constantFrom('', ' ', '\n  '),
    fc.array(fc.tuple(flag, flag, flag, fc.array(written, { minLength: 8, maxLength: 8 })), {
      minLength: 2,
      maxLength: 12,
    }),
  )
  .map(([order, space, records]) => {
    const members = records.map(([valid, wrong, unknown, values], index) => {
      const flags: Readonly<Record<string, string>> = { valid, wrong, unknown };
      const fields = order.map((name, at) => `"${name}":${space}${flags[name] ?? values[at]}`);
      return `"a${index}":{${space}${fields.join(`,${space}`)}}`;
    });
    return Buffer.from(`{${members.join(',')}}`);
  });
