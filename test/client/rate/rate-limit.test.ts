import { expect, test } from 'vitest';
import { parseRateLimit } from '../../../src/client/rate/rate-limit.js';

const wallNowMs = Date.UTC(2026, 10, 21, 12, 0, 0);

function read(headers: Record<string, string>) {
  return parseRateLimit((name) => headers[name], { wallNowMs, date: headers['date'] });
}

test('nothing is learned where nothing is said', () => {
  expect(read({})).toBeUndefined();
  expect(read({ 'x-ratelimit-limit': '180' })).toBeUndefined();
  expect(read({ 'x-ratelimit-remaining': 'many' })).toBeUndefined();
  expect(read({ 'x-ratelimit-remaining': '-1' })).toBeUndefined();
});

test('what is said is read, what is not is left open', () => {
  expect(read({ 'x-ratelimit-remaining': '7' })).toEqual({
    remaining: 7,
    limit: undefined,
    resetMs: undefined,
  });
  expect(read({ 'x-ratelimit-remaining': '0', 'x-ratelimit-limit': '180, 180;w=60' })).toEqual({
    remaining: 0,
    limit: 180,
    resetMs: undefined,
  });
});

for (const [reset, resetMs] of [
  ['30', 30_000],
  ['0', 0],
  ['999999', 3_600_000],
  [String(wallNowMs / 1000 + 20), 20_000],
  [String(wallNowMs + 1500), 1500],
  [String(wallNowMs / 1000 - 20), 0],
  ['soon', undefined],
] as const) {
  test(`a reset of ${reset} is ${resetMs} ms away`, () => {
    const headers = { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': reset };
    expect(read(headers)?.resetMs).toBe(resetMs);
  });
}

test('a reset as a moment is compared with the clock that wrote it', () => {
  const date = new Date(wallNowMs + 3_000_000).toUTCString();
  const reset = String(wallNowMs / 1000 + 3000 + 10);
  const headers = { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': reset, date };
  expect(read(headers)?.resetMs).toBe(10_000);
});
