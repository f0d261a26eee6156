import { expect, test } from 'vitest';
import { Window } from '../../../src/engine/streams/stream-plan.js';

function createWindow(maxRows = 10, maxBytes = 1000): Window {
  const window = new Window({ maxRows, maxBytes });
  window.close();
  return window;
}

test('rows that come in take room, and give it back when they leave', () => {
  const window = createWindow();
  expect(window.roomForRows).toBe(10);
  window.takeIn(7, 70);
  expect(window.roomForRows).toBe(3);
  window.takeIn(7, 70);
  expect(window.roomForRows).toBe(0);
  window.release(5, 0);
  expect(window.roomForRows).toBe(1);
});

test('when the bytes are used up there is no room, however few the rows', () => {
  const window = createWindow();
  window.takeIn(1, 1000);
  expect(window.roomForRows).toBe(0);
  window.release(0, 1);
  expect(window.roomForRows).toBe(9);
});

test('there is room without end while nobody holds rows back', () => {
  const window = new Window({ maxRows: 1, maxBytes: 1 });
  window.takeIn(100, 100);
  expect(window.roomForRows).toBe(Infinity);
});

test('the older half of the rows that wait is old', () => {
  const window = createWindow();
  window.takeIn(6, 0);
  window.release(2, 0);
  window.takeIn(4, 0);
  expect(window.nextRow).toBe(10);
  // Rows 2 to 9 wait.
  expect([1, 2, 5, 6, 9].map((row) => window.isOld(row))).toEqual([true, true, true, false, false]);
});

test('the row that waits alone is old', () => {
  const window = createWindow();
  window.takeIn(1, 0);
  expect(window.isOld(0)).toBe(true);
});

test('whoever listens hears of every release and every settled batch', () => {
  const window = createWindow();
  const received: number[] = [];
  window.onChange(() => received.push(window.underWay));
  window.batchClosed();
  window.batchClosed();
  window.release(0, 0);
  window.batchSettled();
  expect(received).toEqual([2, 1]);
});

test('a second listener is refused', () => {
  const window = createWindow();
  window.onChange(() => undefined);
  expect(() => window.onChange(() => undefined)).toThrow(
    expect.objectContaining({ option: 'plan', fault: 'repeated' }),
  );
});
