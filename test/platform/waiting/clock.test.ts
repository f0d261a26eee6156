import { getEventListeners } from 'node:events';
import { describe, expect, onTestFinished, test, vi, it } from 'vitest';
import { systemClock, beforeDeadline, pollWaitMs } from '../../../src/platform/waiting/clock.js';
import { onAbort, orAborted } from '../../../src/platform/waiting/promises.js';
import { caught } from '../../client/test-client.js';
import fc from 'fast-check';

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

  test('sets no timer for less than no time, of which Node.js warns', async () => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => setTimer.mockRestore());
    await systemClock.sleep(-0.002);
    expect(setTimer.mock.lastCall?.[1]).toBe(0);
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
    const received: unknown[] = [];
    for (let count = 0; count < 20; count += 1) onAbort(stop.signal, (why) => received.push(why));
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    stop.abort('why');
    expect(received).toEqual(Array.from({ length: 20 }, () => 'why'));
  });

  test('can be taken away, each for itself', () => {
    const stop = new AbortController();
    const received: string[] = [];
    const listener = (): void => void received.push('heard');
    const first = onAbort(stop.signal, listener);
    const second = onAbort(stop.signal, listener);
    first();
    first();
    stop.abort();
    second();
    expect(received).toEqual(['heard']);
  });

  test('may take each other away while they are called', () => {
    const stop = new AbortController();
    const received: number[] = [];
    const forget: (() => void)[] = [];
    for (const number of [0, 1, 2]) {
      const taken = onAbort(stop.signal, () => {
        received.push(number);
        for (const each of forget) each();
      });
      forget.push(taken);
    }
    stop.abort();
    expect(received).toEqual([0]);
  });
});

const never = new Promise<never>(() => undefined);

describe('orAborted', () => {
  it('gives what the work gives, or fails as it fails', async () => {
    const { signal } = new AbortController();
    expect(await orAborted(Promise.resolve(1), signal)).toBe(1);
    expect(await orAborted(Promise.resolve(2))).toBe(2);
    await expect(orAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each(['before', 'while'])('fails with the reason of an abort %s it waits', async (when) => {
    const stop = new AbortController();
    const reason = { any: 'thing' };
    if (when === 'before') stop.abort(reason);
    const waiting = orAborted(never, stop.signal);
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  it('says nothing of work that fails once nobody waits', async () => {
    let fail = (_error: Error): void => undefined;
    const work = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    await expect(orAborted(work, AbortSignal.abort('gone'))).rejects.toBe('gone');
    fail(new Error('too late'));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  });

  it('hangs one listener on a signal, however many wait', async () => {
    const stop = new AbortController();
    const waiting = Array.from({ length: 50 }, async () => orAborted(never, stop.signal));
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    stop.abort(new Error('all'));
    for (const end of await Promise.allSettled(waiting)) expect(end.status).toBe('rejected');
  });
});

describe('beforeDeadline', () => {
  const options = { clock: systemClock, ms: 5, toError: () => new Error('overdue') };

  it('ends work by its signal when the time is over, or the caller gives up', async () => {
    const work = async (signal: AbortSignal): Promise<never> => orAborted(never, signal);
    const { signal } = new AbortController();
    await expect(beforeDeadline(work, { ...options, signal })).rejects.toThrow('overdue');
    const gone = AbortSignal.abort('gone');
    await expect(beforeDeadline(work, { ...options, ms: 60_000, signal: gone })).rejects.toBe(
      'gone',
    );
  });
});

const plainly = { intervalMs: 1000, random: () => 0 };

describe('pollWaitMs', () => {
  it('begins with the interval and grows by half', () => {
    expect([0, 1, 2, 3].map((poll) => pollWaitMs(poll, plainly))).toEqual([1000, 1500, 2250, 3375]);
  });

  it('grows to half a minute', () => {
    expect(pollWaitMs(8, plainly)).toBeLessThan(30_000);
    for (const poll of [9, 64, 65, 1000, 1e9]) expect(pollWaitMs(poll, plainly)).toBe(30_000);
  });

  it('keeps an interval that is longer', () => {
    const slowly = { intervalMs: 120_000, random: () => 0 };
    expect([0, 1, 50].map((poll) => pollWaitMs(poll, slowly))).toEqual([120_000, 120_000, 120_000]);
  });

  it('is lengthened by jitter, by a fifth at most, and never shortened', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 0, max: 3_600_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (poll, intervalMs, share) => {
          const plain = pollWaitMs(poll, { intervalMs, random: () => 0 });
          const jittered = pollWaitMs(poll, { intervalMs, random: () => share });
          expect(plain).toBeGreaterThanOrEqual(intervalMs);
          expect(jittered).toBeGreaterThanOrEqual(plain);
          expect(jittered).toBeLessThanOrEqual(plain * 1.2);
          expect(Number.isFinite(jittered)).toBe(true);
        },
      ),
    );
  });

  it('never shrinks from poll to poll', () => {
    for (let poll = 0; poll < 100; poll += 1) {
      expect(pollWaitMs(poll + 1, plainly)).toBeGreaterThanOrEqual(pollWaitMs(poll, plainly));
    }
  });
});
