import { describe, expect, it } from 'vitest';
import {
  PollEstimator,
  type StageTiming,
  type TimedBatch,
} from '../../../src/engine/driver/poll-learning.js';

const intervalMs = 1000;

const emails = (addresses: number): TimedBatch => ({ type: 'email', addresses });

/** A batch that was looked at in these moments, and found through in the last. */
function looked(timing: StageTiming, ...looksMs: readonly number[]): void {
  for (const [at, ms] of looksMs.entries()) {
    if (at > 0) timing.miss();
    timing.look(ms);
  }
  timing.end(true);
}

describe('PollEstimator', () => {
  it('guesses short waits at first, longer for larger batches, and never beyond the interval', () => {
    const waitOf = (addresses: number, interval = intervalMs): number =>
      new PollEstimator(interval).begin('parsing', emails(addresses)).nextMs(0);
    expect(waitOf(1)).toBeLessThan(30);
    expect(waitOf(50_000)).toBeGreaterThan(waitOf(1000));
    expect(waitOf(10_000_000)).toBe(intervalMs);
    expect(waitOf(50_000, 5)).toBe(5);
  });

  it('guesses more than a service that has just started takes, and more for phone numbers', () => {
    const waitOf = (type: TimedBatch['type'], addresses: number): number =>
      new PollEstimator(intervalMs).begin('parsing', { type, addresses }).nextMs(0);
    expect(waitOf('email', 100)).toBeGreaterThan(30);
    expect(waitOf('email', 10_000)).toBeGreaterThan(100);
    expect(waitOf('phone', 10_000)).toBeGreaterThan(300);
  });

  it('looks a little after a time that was enough, as a premature look would cost a whole interval', () => {
    const waitAfter = (foundMs: number): number => {
      const pace = new PollEstimator(intervalMs);
      looked(pace.begin('parsing', emails(1000)), foundMs - 1, foundMs);
      return pace.begin('parsing', emails(1000)).nextMs(0) - foundMs;
    };
    expect([10, 100, 3000].map(waitAfter)).toEqual([5, 30, 30]);
  });

  it('learns of each type by itself', () => {
    const pace = new PollEstimator(intervalMs);
    looked(pace.begin('parsing', emails(1000)), 40);
    expect(pace.begin('parsing', { type: 'phone', addresses: 1000 }).nextMs(0)).toBe(123);
    expect(pace.begin('parsing', emails(1000)).nextMs(0)).toBe(60);
  });

  it('has batches of unknown pace look in turn, ever longer after they entered the stage', () => {
    const pace = new PollEstimator(intervalMs);
    const [first, second] = [pace.begin('parsing', emails(1)), pace.begin('parsing', emails(1))];
    const guessMs = first.nextMs(0);
    expect(second.nextMs(0)).toBe(guessMs);
    let reported = 0;
    second.onLearnt(() => (reported += 1));
    first.look(guessMs);
    expect(reported).toBe(1);
    expect(second.nextMs(0)).toBe(guessMs + intervalMs / 2);
    second.look(20_000);
    expect(pace.begin('parsing', emails(1)).nextMs(0)).toBe(22_000);
  });

  it('lets no batch wait for its turn longer than half a minute', () => {
    const waitAt = (interval: number): number => {
      const pace = new PollEstimator(interval);
      pace.begin('parsing', emails(1)).look(3_600_000);
      return pace.begin('parsing', emails(1)).nextMs(0);
    };
    expect([intervalMs, 60_000].map(waitAt)).toEqual([30_000, 60_000]);
  });

  it('comes within a twentieth of a steady service in a few batches', () => {
    const pace = new PollEstimator(intervalMs);
    const trueMs = 2000;
    let waitMs = 0;
    for (let batch = 0; batch < 12; batch += 1) {
      const timing = pace.begin('verifying', emails(1000));
      waitMs = timing.nextMs(0);
      const looks = [waitMs];
      while ((looks.at(-1) ?? 0) < trueMs) looks.push((looks.at(-1) ?? 0) + intervalMs);
      looked(timing, ...looks);
    }
    expect(waitMs).toBeGreaterThanOrEqual(trueMs);
    expect(waitMs).toBeLessThan(trueMs * 1.05);
  });

  it('has one batch at a time look where it may be too soon, until its look has told', () => {
    const pace = new PollEstimator(intervalMs);
    for (let batch = 0; batch < 20; batch += 1)
      looked(pace.begin('parsing', emails(1000)), 1800, 2000);
    const [first, second] = [
      pace.begin('parsing', emails(1000)),
      pace.begin('parsing', emails(1000)),
    ];
    const tooSoonMs = first.nextMs(0);
    expect(tooSoonMs).toBeGreaterThan(1900);
    expect(tooSoonMs).toBeLessThan(2030);
    expect(second.nextMs(0)).toBe(2030);
    first.look(tooSoonMs);
    first.miss();
    expect(second.nextMs(0)).toBeGreaterThan(tooSoonMs);
  });

  it('looks where it may be too soon once enough batches have come, and not at all for little', () => {
    const waitAfter = (batches: number): number => {
      const pace = new PollEstimator(intervalMs);
      for (let batch = 0; batch < batches; batch += 1) {
        looked(pace.begin('parsing', emails(1000)), 1800, 2000);
      }
      return pace.begin('parsing', emails(1000)).nextMs(0);
    };
    expect(waitAfter(2)).toBe(2030);
    expect(waitAfter(15)).toBeLessThan(2030);
    expect(waitAfter(15)).toBeGreaterThan(1900);
  });

  it('waits between two looks without an interval, too', () => {
    const timing = new PollEstimator(0).begin('parsing', emails(1000));
    timing.look(0.01);
    expect(timing.nextMs(0)).toBe(1.01);
  });

  it('waits for the slower of batches that vary as long as that keeps the quicker ones for little', () => {
    const waitAfter = (interval: number): number => {
      const pace = new PollEstimator(interval, () => 0);
      for (const ms of [90_000, 100_000, 120_000, 130_000])
        looked(pace.begin('verifying', emails(1000)), ms - 500, ms);
      return pace.begin('verifying', emails(1000)).nextMs(0);
    };
    expect([intervalMs, 40_000, 100_000].map(waitAfter)).toEqual([90_030, 101_200, 133_000]);
  });

  it('looks again where most were through, and then after waits that grow with the time of the batch', () => {
    const pace = new PollEstimator(intervalMs);
    looked(pace.begin('verifying', emails(1000)), 3999, 4000);
    const timing = pace.begin('verifying', emails(1000));
    const nextAfter = (lookMs: number): number => {
      timing.look(lookMs);
      return timing.nextMs(0);
    };
    expect([1000, 4030, 20_000, 500_000].map(nextAfter)).toEqual([4030, 5037.5, 25_000, 530_000]);
    expect(timing.nextMs(0.5)).toBe(533_000);
  });

  it('tells those that wait when one of them is through', () => {
    const pace = new PollEstimator(intervalMs);
    const [first, second] = [
      pace.begin('parsing', emails(1000)),
      pace.begin('parsing', emails(1000)),
    ];
    let reported = 0;
    const stop = second.onLearnt(() => (reported += 1));
    first.look(40);
    reported = 0;
    first.end(true);
    expect([reported, second.nextMs(0)]).toEqual([1, 60]);
    stop();
    looked(pace.begin('parsing', emails(1000)), 30);
    expect(reported).toBe(1);
  });

  it('keeps stages and sizes apart, but takes another size for a guess', () => {
    const pace = new PollEstimator(intervalMs);
    looked(pace.begin('parsing', emails(50_000)), 3999, 4000);
    expect(pace.begin('parsing', emails(10)).nextMs(0)).toBe(4030);
    expect(pace.begin('verifying', emails(50_000)).nextMs(0)).toBeLessThan(intervalMs);
    looked(pace.begin('parsing', emails(10)), 4, 5);
    expect(pace.begin('parsing', emails(10)).nextMs(0)).toBe(7.5);
    expect(pace.begin('parsing', emails(50_000)).nextMs(0)).toBe(4030);
  });

  it('follows a service that becomes slower, and after a while one that becomes faster', () => {
    const pace = new PollEstimator(intervalMs);
    looked(pace.begin('parsing', emails(10)), 99, 100);
    for (let batch = 0; batch < 8; batch += 1)
      looked(pace.begin('parsing', emails(10)), 120, 1899, 1900);
    expect(pace.begin('parsing', emails(10)).nextMs(0)).toBe(1930);
    for (let batch = 0; batch < 40; batch += 1) looked(pace.begin('parsing', emails(10)), 1900);
    expect(pace.begin('parsing', emails(10)).nextMs(0)).toBeLessThan(1900);
  });

  it('learns nothing from a batch that fails or leaves unseen', () => {
    const pace = new PollEstimator(intervalMs);
    const failed = pace.begin('parsing', emails(10));
    failed.look(50);
    failed.end(false);
    pace.begin('parsing', emails(10)).end(true);
    expect(pace.begin('parsing', emails(10)).nextMs(0)).toBeGreaterThan(500);
  });
});
