import { expect, test } from 'vitest';
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
