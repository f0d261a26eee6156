import { expect, test } from 'vitest';
import { printable, readServiceAnswer, sanitized } from '../../src/client/redaction.js';
import { isDeeperThan } from '../../src/platform/json.js';

for (const [body, words] of [
  ['{"message":"Unauthorized"}', 'Unauthorized'],
  ['{"detail":"Not found"}', 'Not found'],
  ['{"error":{"message":"deep"}}', 'deep'],
  ['{"error":"plain"}', 'plain'],
  ['"just text"', 'just text'],
  ['{"detail":[{"loc":["body","name"],"msg":"too long","input":"cell"}]}', 'body.name: too long'],
  ['{"detail":[{"msg":"a"},"b",null,{"loc":["c",0]}]}', 'a; b; c.0'],
  [
    '{"message":"Validation Error","errors":[{"field":"email","message":"is required"}]}',
    'Validation Error: email: is required',
  ],
  ['{"message":"npm install exceljs@4.4.0"}', 'npm install exceljs@4.4.0'],
  ['{"message":"ada@example.c0 and ada@1.2.3.4"}', '<address> and <address>'],
  ['{"reason":"other"}', '{"reason":"other"}'],
  ['{"message":""}', undefined],
  ['{}', undefined],
  ['[]', undefined],
  ['', undefined],
  ['Bad gateway\n', 'Bad gateway'],
  ['{"message": "cut', '{"message": "cut'],
  ['{"message":"\\u001b[2Ja\\u0000\\u202eb\\u2028c"}', '[2Ja b c'],
] as const) {
  test(`the words of ${JSON.stringify(body)} are ${JSON.stringify(words)}`, async () => {
    const reported = await readServiceAnswer(Buffer.from(body), (text) => text, undefined);
    expect(reported.words).toBe(words);
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

for (const [text, message] of [
  ['a@b.example is refused', '<address> is refused'],
  ["'o'brien+x@b.example', line 7", '<address>, line 7'],
  ['"a b"@b.example: no', '<address> no'],
  ['<a@[192.0.2.1]>', '<<address>]>'],
  [
    'a%40b.example a\\u0040b.example a&#64;b.example a\uff20b',
    '<address> <address> <address> <address>',
  ],
  ['a\u200b@\u200bb.example', '<address>'],
  ['at 12:00 @ home', 'at 12:00 @ home'],
  ['+44 (0) 20-7946 0123 is no phone', '<number> is no phone'],
  ['tel:447700900123;x', 'tel:<number>;x'],
  ['\u0664\u0664\u0667\u0667\u0660\u0660\u0669', '<number>'],
  ['line 123456, field 12', 'line 123456, field 12'],
  ['since 2026-01-31 13:05', 'since 2026-01-31 13:05'],
  ['3f2b8c1e-7a44-4f0e-9a51-000000000077 is gone', '3f2b8c1e-7a44-4f0e-9a51-000000000077 is gone'],
] as const) {
  test(`${JSON.stringify(text)} is reported as ${JSON.stringify(message)}`, () => {
    expect(sanitized(text)).toBe(message);
  });
}

test('lines that were sent are taken out, whatever they look like', async () => {
  const body = Buffer.from(
    '{"message":"Line 2 (Mr. John Doe) is no address, nor is Mr. John, é.è"}',
  );
  const lines = ['Mr. John', 'Mr. John Doe', 'é.è', '', 'Line 3', 'é.è is'].join('\r\n');
  // In pieces that end in the middle of characters.
  const bytes = [...Buffer.from(lines)].map((byte) => Uint8Array.of(byte));
  const { words } = await readServiceAnswer(body, (text) => text, { open: () => bytes });
  expect(words).toBe('Line 2 (<cell>) is no address, nor is <cell>, é.è');
});

test('nothing is reported where the lines that were sent cannot be read', async () => {
  const sent = {
    open: () => {
      throw new Error('gone');
    },
  };
  const body = Buffer.from('{"message":"words"}');
  const reports = await readServiceAnswer(body, (text) => text, sent);
  expect(reports).toEqual({ words: undefined, body: undefined });
});
