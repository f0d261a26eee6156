import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../../src/index.js';
import { parseServerUrl } from '../../../src/lists/sql/database-url.js';
import { textOfUrl } from '../../../src/lists/location.js';

describe('the URL of a server', () => {
  const parse = (text: string) => parseServerUrl(text, ['postgres', 'postgresql']);

  test('may name a user and no host, or a socket', () => {
    expect(parse('postgres://me@/crm?host=/run/pg').socket).toBe('/run/pg');
    expect(parse('postgres:///crm?host=%2Frun%2Fpg')).toMatchObject({
      socket: '/run/pg',
      name: 'postgres://%2Frun%2Fpg/crm',
    });
    expect(parse('postgres://me:pw@/crm')).toMatchObject({
      socket: undefined,
      name: 'postgres://me@localhost/crm',
    });
    expect(parse('postgres://h1/crm?host=h2').driverUrl).toBe('postgres://h2/crm');
  });

  test('is named without its password and its parameters, and refused without being quoted', () => {
    const { name, driverUrl } = parse('postgres://me:geheim@h/crm?sslmode=require&options=x');
    expect(name).toBe('postgres://me@h/crm');
    expect(driverUrl).toBe('postgres://me:geheim@h/crm?options=x');
    expect(() => parse('postgres://me:geheim@h/crm?sslmode=geheim')).toThrow(
      expect.objectContaining({
        option: 'sslmode',
        message: expect.not.stringContaining('geheim') as string,
      }),
    );
    expect(() => parse('ftp://me:geheim@h/')).toThrow(ConfigurationError);
  });
});

describe('the URL of a database', () => {
  test.each([
    ['postgres://me:p%40ss@h/crm', 'postgres://me:p%40ss@h/crm'],
    ['sqlite:ö 1.db', 'sqlite:ö 1.db'],
    ['duckdb:100%25.db', 'duckdb:100%.db'],
    ['file:///crm%20%C3%B6.db', '/crm ö.db'],
    ['s3://b/%C3%B6 1.csv', 's3://b/ö 1.csv'],
  ])('may be an object, which encodes the path of a file: %s', (url, text) => {
    expect(textOfUrl(new URL(url))).toBe(text);
    expect(textOfUrl(text)).toBe(text);
  });

  test.each(['sqlite:100%.db', 'file:///a%2Fb.db'])('is refused where it is none: %s', (url) => {
    expect(() => textOfUrl(new URL(url))).toThrow(ConfigurationError);
  });
});
