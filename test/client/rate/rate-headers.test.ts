import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  longestRetryAfterMs,
  parseRateLimit,
  parseRetryAfter,
} from '../../../src/client/rate/rate-headers.js';

const wallNowMs = Date.UTC(2026, 10, 21, 12, 0, 0);
const time = { wallNowMs };

describe('Retry-After', () => {
  const cases: [string | undefined, number | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['0', 0],
    ['1', 1000],
    [' 120 ', 120_000],
    ['1.5', 1500],
    ['0.00021', 1],
    ['-5', 0],
    ['300', 300_000],
    ['301', longestRetryAfterMs],
    ['1000000000000', longestRetryAfterMs],
    ['1e12', longestRetryAfterMs],
    ['9'.repeat(400), longestRetryAfterMs],
    ['soon', undefined],
    ['5 seconds', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['0x10', undefined],
    ['2026', longestRetryAfterMs],
    ['2026-11-21T12:01:00Z', undefined],
    ['Sat, 21 Nov 2026 12:01:00 GMT', 60_000],
    ['Saturday, 21-Nov-26 12:01:00 GMT', 60_000],
    ['Sat Nov 21 12:01:00 2026', 60_000],
    ['Sat, 21 Nov 2026 11:59:00 GMT', 0],
    ['Sat, 21 Nov 2126 12:00:00 GMT', longestRetryAfterMs],
    ['Sat, 99 Nov 2026 12:01:00 GMT', undefined],
    ['Sat, 21 Nov 2026 12:01:00 GMT; 5', undefined],
  ];
  for (const [value, expected] of cases) {
    test(`${JSON.stringify(value?.slice(0, 40))} is ${expected}`, () => {
      expect(parseRetryAfter(value, time)).toBe(expected);
    });
  }

  test('as a date is compared with the clock that wrote it', () => {
    const date = 'Sat, 21 Nov 2026 15:00:00 GMT';
    const until = 'Sat, 21 Nov 2026 15:00:30 GMT';
    expect(parseRetryAfter(until, { wallNowMs, date })).toBe(30_000);
    expect(parseRetryAfter(until, { wallNowMs, date: 'now' })).toBe(longestRetryAfterMs);
  });

  test('is within its bounds whatever stands there', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.double().map(String), fc.integer().map(String)),
        (value) => {
          const ms = parseRetryAfter(value, time);
          expect(ms === undefined || (ms >= 0 && ms <= longestRetryAfterMs)).toBe(true);
        },
      ),
    );
  });
});

function read(headers: Record<string, string>) {
  return parseRateLimit((name) => headers[name], { wallNowMs, date: headers['date'] });
}

test('nothing is learned where nothing is reported', () => {
  expect(read({})).toBeUndefined();
  expect(read({ 'x-ratelimit-limit': '180' })).toBeUndefined();
  expect(read({ 'x-ratelimit-remaining': 'many' })).toBeUndefined();
  expect(read({ 'x-ratelimit-remaining': '-1' })).toBeUndefined();
  expect(read({ 'x-ratelimit-remaining': '0', 'x-ratelimit-limit': '0' })).toBeUndefined();
});

test('what is given is read, what is not is left open', () => {
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
