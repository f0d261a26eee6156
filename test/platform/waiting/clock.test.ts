import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/platform/waiting/clock.js';
import { onAbort } from '../../../src/platform/waiting/on-abort.js';
import { caught } from '../../client/test-client.js';

describe('the clock', () => {
  test('sleeps longer than a timer can', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let isAwake = false;
    const days = 60 * 86_400_000;
    void systemClock.sleep(days).then(() => (isAwake = true));
    await vi.advanceTimersByTimeAsync(days - 1);
    expect(isAwake).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(isAwake).toBe(true);
  });

  test('wakes for an abort with its reason, and leaves nothing behind', async () => {
    const stop = new AbortController();
    const before = process.getActiveResourcesInfo().length;
    const sleeping = caught(systemClock.sleep(1e12, stop.signal));
    expect(process.getActiveResourcesInfo().length).toBe(before + 1);
    stop.abort('enough');
    expect(await sleeping).toBe('enough');
    expect(process.getActiveResourcesInfo().length).toBe(before);
    expect(await caught(systemClock.sleep(1, stop.signal))).toBe('enough');
  });

  test('leaves no listener on a signal that did not abort', async () => {
    const { signal } = new AbortController();
    await Promise.all([systemClock.sleep(1, signal), systemClock.sleep(2, signal)]);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('goes forward, and knows the date', () => {
    const before = systemClock.now();
    expect(systemClock.now()).toBeGreaterThanOrEqual(before);
    expect(systemClock.wallNow()).toBeGreaterThan(Date.UTC(2020, 0));
  });
});

describe('listeners of an abort', () => {
  test('are all called, with the reason, and the signal carries one of them', () => {
    const stop = new AbortController();
    const heard: unknown[] = [];
    for (let count = 0; count < 20; count += 1) onAbort(stop.signal, (why) => heard.push(why));
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    stop.abort('why');
    expect(heard).toEqual(Array.from({ length: 20 }, () => 'why'));
  });

  test('can be taken away, each for itself', () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const listener = (): void => void heard.push('heard');
    const first = onAbort(stop.signal, listener);
    const second = onAbort(stop.signal, listener);
    first();
    first();
    stop.abort();
    second();
    expect(heard).toEqual(['heard']);
  });

  test('may take each other away while they are called', () => {
    const stop = new AbortController();
    const heard: number[] = [];
    const forget: (() => void)[] = [];
    for (const number of [0, 1, 2]) {
      const taken = onAbort(stop.signal, () => {
        heard.push(number);
        for (const each of forget) each();
      });
      forget.push(taken);
    }
    stop.abort();
    expect(heard).toEqual([0]);
  });
});
