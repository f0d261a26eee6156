import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { longestRetryAfterMs, parseRetryAfter } from '../../../src/client/rate/retry-after.js';

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
