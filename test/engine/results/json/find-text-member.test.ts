import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTextMember } from '../../../../src/engine/results/json/find-text-member.js';
import { createRandom, writeOddJson, type OddJson } from '../odd-json.js';

function found(object: string, name = 'email'): string | undefined {
  const bytes = Buffer.from(object);
  const range = findTextMember(bytes, Buffer.from(name));
  return range && bytes.toString('utf8', range.start, range.end);
}

describe('the member that holds the address', () => {
  it.each([
    ['{"email":"a"}', 'a'],
    ['{"email":""}', ''],
    ['{ "x" : 1 , "email" : "a" }', 'a'],
    ['{"email":"a","email":"b"}', 'a'],
    ['{"email":1,"email":"b"}', 'b'],
    ['{"email":{"email":"a"},"x":"b"}', undefined],
    ['{"email":["a","b"],"email":"c"}', 'c'],
    ['{"x":["email","a"],"y":{"email":"b"}}', undefined],
    ['{"x":"email","y":"a"}', undefined],
    ['{"x":"\\"email\\":\\"a\\"","email":"b\\"c\\\\"}', 'b\\"c\\\\'],
    ['{"\\u0065mail":"a"}', undefined],
    ['{"emails":"a","mail":"b","Email":"c"}', undefined],
    ['{"a{":"}","b[":"]","c,":":","email":"d"}', 'd'],
    ['{}', undefined],
  ])('of %s is %s', (object, address) => {
    expect(found(object)).toBe(address);
  });

  it('is never one of an object inside', () => {
    const { value } = fc.letrec<{ value: OddJson }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium' },
        fc.constantFrom<OddJson>('email', '"', '\\', 'x', 1, null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .array(fc.tuple(fc.constantFrom('email', '"', '{', 'y'), tie('value')), { maxLength: 3 })
          .map((members) => ({ members })),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('email', 'z', '\\"'), value), { maxLength: 4 }),
        fc.nat(),
        (members, seed) => {
          // Texts keep their plain spelling; white space comes from an odd hand around them.
          const text = writeOddJson({ members }, createRandom(seed), 0);
          const first = members.find(([key, item]) => key === 'email' && typeof item === 'string');
          expect(found(text)).toBe(first && JSON.stringify(first[1]).slice(1, -1));
        },
      ),
    );
  });
});
