import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { ApiKey } from '../../../src/client/api-key.js';
import { plainCause } from '../../../src/client/http/transport-error.js';

const key = new ApiKey('secret-key');
const redact = (text: string): string => key.redact(text);

test('a foreign error keeps its name, code and message, and nothing it holds', () => {
  const foreign = Object.assign(new TypeError('lost with secret-key'), {
    code: 'ECONNRESET',
    headers: { 'x-api-key': 'secret-key' },
    cause: new Error('secret-key'),
  });
  const cause = plainCause(foreign, redact);
  expect(cause).toMatchObject({
    name: 'TypeError',
    code: 'ECONNRESET',
    message: 'lost with [key]',
  });
  expect(inspect(cause, { showHidden: true, depth: Infinity })).not.toContain('secret-key');
});

test('an error that only holds others says what they say', () => {
  const refused = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}:1`));
  const cause = plainCause(new AggregateError(refused), redact);
  expect(cause.message).toBe('connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1');
});

test('what is no error becomes one', () => {
  expect(plainCause('secret-key is lost', redact).message).toBe('[key] is lost');
});

test('a key too short to be distinguished from words is left alone', () => {
  expect(new ApiKey('a').redact('a word')).toBe('a word');
});
