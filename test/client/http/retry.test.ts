import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../../src/client/rate/rate-limiter.js';
import { judgeFailure, type Failure } from '../../../src/client/http/retry.js';
import { InputError } from '../../../src/platform/errors/errors.js';
import {
  ApiError,
  ContractError,
  TransportError,
} from '../../../src/platform/errors/service-errors.js';

const operation = 'launchBatch';

function api(status: number, retryAfterMs?: number): ApiError {
  const code = status < 400 ? 'redirected' : 'unexpected_status';
  return new ApiError('no', { code, operation, status, retryAfterMs });
}

function transport(sent: 'no' | 'unknown', retryable = true): TransportError {
  return new TransportError('lost', { code: 'connection_lost', operation, sent, retryable });
}

function judge(error: unknown, given: Partial<Failure> = {}, random = () => 0.5) {
  const failure: Failure = {
    error,
    repeatable: true,
    attempts: 1,
    invalidAnswers: 1,
    isUnderstood: false,
    hasAnswered: false,
    failingForMs: 0,
    giveUpAfterMs: 600_000,
    maxRetries: Infinity,
    leftMs: Infinity,
    ...given,
  };
  return judgeFailure(failure, random);
}

const odd = new ContractError('odd', { operation });

describe('after a failed attempt', () => {
  for (const [what, error, repeatable, once] of [
    ['a read that lost its answer', transport('unknown'), true, 'repeat'],
    ['a launch that lost its answer', transport('unknown'), false, 'throw'],
    ['a launch that was surely not sent', transport('no'), false, 'repeat'],
    ['a certificate that is not trusted', transport('no', false), true, 'throw'],
    ['a read that met a 500', api(500), true, 'repeat'],
    ['a launch that met a 500', api(500), false, 'throw'],
    ['a read that met a 408', api(408), true, 'repeat'],
    ['a read that met a 425', api(425), true, 'repeat'],
    ['a launch that met a 425', api(425), false, 'throw'],
    ['a read that met a 429', api(429), true, 'repeat'],
    ['a launch that met a 429', api(429), false, 'repeat'],
    ['a read that met a 401', api(401), true, 'throw'],
    ['a read that met a 404', api(404), true, 'throw'],
    ['a read that was led elsewhere', api(302), true, 'throw'],
    ['a read with an odd answer', odd, true, 'repeat'],
    ['a launch with an odd answer', odd, false, 'throw'],
    ['a broken file', new InputError('broken'), true, 'throw'],
    ['an abort', 'reason', true, 'throw'],
  ] as const) {
    test(`${what} is to ${once}`, () => {
      expect(judge(error, { repeatable }).do).toBe(once);
    });
  }

  test('odd answers are asked for three times', () => {
    expect(judge(odd, { invalidAnswers: 2 }).do).toBe('repeat');
    expect(judge(odd, { invalidAnswers: 3 }).do).toBe('throw');
  });

  test('odd answers to what was answered well before are passing trouble', () => {
    const given = { invalidAnswers: 50, isUnderstood: true };
    expect(judge(odd, given).do).toBe('repeat');
    expect(judge(odd, { ...given, failingForMs: 600_000 }).do).toBe('give_up');
    expect(judge(odd, { ...given, repeatable: false }).do).toBe('throw');
  });

  test('a redirect in the midst of good answers is passing trouble of a read', () => {
    const given = { hasAnswered: true };
    expect(judge(api(304), given).do).toBe('repeat');
    expect(judge(api(304), { ...given, failingForMs: 600_000 }).do).toBe('give_up');
    expect(judge(api(304), { ...given, repeatable: false }).do).toBe('throw');
  });

  test('the service’s own wait is the least', () => {
    expect(judge(api(503, 60_000))).toEqual({ do: 'repeat', waitMs: 60_000 });
    expect(judge(api(503, 0))).toEqual({ do: 'repeat', waitMs: 375 });
  });

  test('it is thrown once the call has no retry left, or no time for one', () => {
    expect(judge(api(503), { maxRetries: 1 }).do).toBe('repeat');
    expect(judge(api(503), { maxRetries: 1, attempts: 2 }).do).toBe('throw');
    expect(judge(api(429), { maxRetries: 0 }).do).toBe('throw');
    expect(judge(api(429, 30_000), { leftMs: 5000 }).do).toBe('throw');
    expect(judge(api(503), { leftMs: 375 }).do).toBe('throw');
    expect(judge(api(503), { leftMs: 376 })).toEqual({ do: 'repeat', waitMs: 375 });
  });

  test('it is given up when the time is over, and not a wait before', () => {
    expect(judge(api(503), { failingForMs: 599_999 })).toEqual({ do: 'repeat', waitMs: 1 });
    expect(judge(api(503), { failingForMs: 600_000 }).do).toBe('give_up');
    expect(judge(api(503, 60_000), { giveUpAfterMs: 50_000 }).do).toBe('give_up');
    expect(judge(api(429), { failingForMs: 600_001 }).do).toBe('give_up');
  });
});

test('waits double up to their longest, and half of each is chance', () => {
  const bounds = { firstMs: 100, longestMs: 3000 };
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (n, chance) => {
        const whole = n > 5 ? 3000 : 100 * 2 ** (n - 1);
        const wait = backoffMs(n, bounds, () => chance);
        expect(wait).toBeGreaterThanOrEqual(whole / 2);
        expect(wait).toBeLessThanOrEqual(whole);
      },
    ),
  );
});
