import { isSluiceError, rowsToBatches, StreamPlan } from 'sluice';
import { createTestClock, type TestClock } from 'sluice/testing';
import { describe, expect, test } from 'vitest';
import { ArrivalTimes } from '../../../src/engine/streams/rows-to-batches.js';

test('a row came in with those in front of it that were noted', () => {
  const times = new ArrivalTimes(1000);
  times.note(0, 10);
  times.note(5, 20);
  times.note(9, 30);
  expect([0, 4, 5, 8, 9, 100].map((row) => times.of(row))).toEqual([10, 10, 20, 20, 30, 30]);
});

test('what is asked for no more is forgotten', () => {
  const times = new ArrivalTimes(1000);
  times.note(0, 10);
  times.note(5, 20);
  expect(times.of(7)).toBe(20);
  expect(() => times.of(0)).toThrow(RangeError);
  times.forget();
  expect(() => times.of(7)).toThrow(RangeError);
});

test('rows that come close together have waited as long as the first of them, never less', () => {
  const times = new ArrivalTimes(1000);
  for (let row = 0; row < 10_000; row += 1) times.note(row, row / 100);
  for (const row of [0, 50, 5050, 9999]) {
    expect(times.of(row)).toBeLessThanOrEqual(row / 100);
    expect(times.of(row)).toBeGreaterThan(row / 100 - 1.01);
  }
});

describe('maxWaitMs, by the clock that is given', () => {
  function createStream(clock: TestClock) {
    const plan = new StreamPlan({
      email: ['email', 'other'],
      country: 'US',
      maxWaitMs: 60_000,
      clock,
    });
    plan.rowColumns.most = 100;
    const kinds: string[] = [];
    return { kinds, stream: rowsToBatches(plan).on('data', ({ kind }) => kinds.push(kind)) };
  }

  test('ends the wait of an open batch', async () => {
    const clock = createTestClock();
    const { kinds, stream } = createStream(clock);
    stream.write({ email: 'good@sluice.test', other: '' });
    await clock.advance(30_000);
    stream.write({ email: 'good+2@sluice.test', other: '' });
    await clock.advance(29_999);
    expect(kinds).toEqual(['rows', 'rows']);
    await clock.advance(1);
    expect(kinds).toEqual(['rows', 'rows', 'batch']);
    stream.end();
  });

  test('ends the wait of rows for their columns', async () => {
    const clock = createTestClock();
    const { stream } = createStream(clock);
    const codes: unknown[] = [];
    stream.on('error', (error) => codes.push(isSluiceError(error) && error.code));
    stream.write({ email: 'good@sluice.test' });
    await clock.advance(59_999);
    expect(codes).toEqual([]);
    await clock.advance(1);
    expect(codes).toEqual(['column_not_found']);
  });
});
