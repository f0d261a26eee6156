import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pollWaitMs } from '../../../src/platform/waiting/poll-wait.js';

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
