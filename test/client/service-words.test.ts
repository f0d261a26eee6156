import { expect, test } from 'vitest';
import { isDeeperThan } from '../../src/client/json-depth.js';
import { parseServiceWords, printable } from '../../src/client/service-words.js';

for (const [body, words] of [
  ['{"message":"Unauthorized"}', 'Unauthorized'],
  ['{"detail":"Not found"}', 'Not found'],
  ['{"error":{"message":"deep"}}', 'deep'],
  ['{"error":"plain"}', 'plain'],
  ['"just text"', 'just text'],
  ['{"detail":[{"loc":["body","name"],"msg":"too long","input":"cell"}]}', 'body.name: too long'],
  ['{"detail":[{"msg":"a"},"b",null,{"loc":["c",0]}]}', 'a; b; c.0'],
  ['{"reason":"other"}', '{"reason":"other"}'],
  ['{"message":""}', undefined],
  ['{}', undefined],
  ['[]', undefined],
  ['', undefined],
  ['Bad gateway\n', 'Bad gateway'],
  ['{"message": "cut', '{"message": "cut'],
  ['{"message":"\\u001b[2Ja\\u0000\\u202eb\\u2028c"}', '[2Ja b c'],
] as const) {
  test(`the words of ${JSON.stringify(body)} are ${JSON.stringify(words)}`, () => {
    expect(parseServiceWords(Buffer.from(body))).toBe(words);
  });
}

test('no more than 500 characters are repeated, none of them cut in two', () => {
  expect(printable('é'.repeat(3000))).toHaveLength(500);
  expect(Array.from(printable('🙂'.repeat(3000)))).toHaveLength(500);
  expect(printable(`a${'🙂'.repeat(3000)}`)).not.toMatch(/\p{Cs}/u);
});

test('brackets count when they stand outside strings', () => {
  const deep = (text: string): boolean => isDeeperThan(Buffer.from(text), 2);
  expect(deep('[[1],[2]]')).toBe(false);
  expect(deep('[[[1]]]')).toBe(true);
  expect(deep('{"a":{"b":[]}}')).toBe(true);
  expect(deep('["[[[[", "\\"[[[", "\\\\", [1]]')).toBe(false);
  expect(deep('["\\\\", [[')).toBe(true);
  expect(deep('')).toBe(false);
});
