import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseApiKey } from '../../src/client/api-key.js';
import { parseBaseUrl } from '../../src/client/client-options.js';
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

describe('a base URL', () => {
  for (const [text, expected] of [
    [
      'https://api.example.com',
      { origin: 'https://api.example.com', prefix: '', isLoopback: false },
    ],
    [
      'https://api.example.com/',
      { origin: 'https://api.example.com', prefix: '', isLoopback: false },
    ],
    [
      'https://a.example:8443/x/y//',
      { origin: 'https://a.example:8443', prefix: '/x/y', isLoopback: false },
    ],
    ['http://localhost:8080', { origin: 'http://localhost:8080', prefix: '', isLoopback: true }],
    ['http://127.0.0.1:1/p', { origin: 'http://127.0.0.1:1', prefix: '/p', isLoopback: true }],
    ['http://127.9.8.7', { origin: 'http://127.9.8.7', prefix: '', isLoopback: true }],
    ['http://[::1]:80', { origin: 'http://[::1]', prefix: '', isLoopback: true }],
    ['https://LOCALHOST', { origin: 'https://localhost', prefix: '', isLoopback: true }],
  ] as const) {
    test(`is ${text}`, () => {
      expect(parseBaseUrl(text)).toEqual(expected);
    });
  }

  for (const text of [
    '',
    'api.example.com',
    '/v1',
    'ftp://api.example.com',
    'file:///etc/passwd',
    'http://api.example.com',
    'http://10.0.0.1',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://127.example.com',
    'https://user@api.example.com',
    'https://user:secret@api.example.com',
    'https://:secret@api.example.com',
    'https://api.example.com/?key=secret',
    'https://api.example.com/#secret',
    'https://api.example.com/?',
    'https://exa mple.com:secret',
  ]) {
    test(`is not ${JSON.stringify(text)}, which is not repeated`, () => {
      expect(() => parseBaseUrl(text)).toThrow(ConfigurationError);
      expect(() => parseBaseUrl(text)).not.toThrow(/secret/);
    });
  }

  test('is plain http to another machine only on purpose', () => {
    const parsed = parseBaseUrl('http://10.0.0.1', { allowInsecureHttp: true });
    expect(parsed).toEqual({ origin: 'http://10.0.0.1', prefix: '', isLoopback: false });
  });
});
