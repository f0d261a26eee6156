import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { beforeDeadline, systemClock } from '../../../src/platform/waiting/clock.js';
import { orAborted } from '../../../src/platform/waiting/on-abort.js';

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
