import { describe, expect, test } from 'vitest';
import { parseBaseUrl } from '../../src/client/base-url.js';
import { ConfigurationError } from '../../src/platform/errors/errors.js';

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
