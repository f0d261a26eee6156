import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { parseApiKey } from '../../src/client/api-key.js';
import { ConfigurationError } from '../../src/platform/errors/errors.js';

test('a key is trimmed, as files end in a line break', () => {
  expect(parseApiKey(' key é \n').reveal()).toBe('key é');
});

for (const text of [
  '',
  ' \n',
  'a\nb',
  'a\r\nx-b: c',
  'a\u0000',
  'a\tb',
  'k\u0100',
  '🔑',
  'a\u007f',
]) {
  test(`${JSON.stringify(text)} is no key`, () => {
    expect(() => parseApiKey(text)).toThrow(ConfigurationError);
  });
}

test('a key is printed by nothing', () => {
  const key = parseApiKey('secret-key');
  expect(inspect(key, { showHidden: true, depth: Infinity })).not.toContain('secret');
  expect(JSON.stringify({ key })).not.toContain('secret');
});

test('a key is taken out of any text, wherever it stands', () => {
  const key = parseApiKey('a$&key');
  expect(key.redact('no a$&key and a$&keya$&key')).toBe('no [key] and [key][key]');
});
