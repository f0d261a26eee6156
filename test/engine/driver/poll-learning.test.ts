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
  for (const ms of looksMs) timing.look(ms);
  timing.end(true, intervalMs);
}

describe('PollEstimator', () => {
  it('guesses short waits at first, longer for larger batches, and never beyond the interval', () => {
    const waitOf = (addresses: number, interval = intervalMs): number =>
      new PollEstimator().begin('parsing', emails(addresses)).firstWaitMs(interval);
    expect(waitOf(1)).toBeLessThan(30);
    expect(waitOf(50_000)).toBeGreaterThan(waitOf(1000));
    expect(waitOf(10_000_000)).toBe(intervalMs);
    expect(waitOf(50_000, 5)).toBe(5);
  });

  it('guesses more than a service that has just started takes, and more for phone numbers', () => {
    const waitOf = (type: TimedBatch['type'], addresses: number): number =>
      new PollEstimator().begin('parsing', { type, addresses }).firstWaitMs(intervalMs);
    expect(waitOf('email', 100)).toBeGreaterThan(30);
    expect(waitOf('email', 10_000)).toBeGreaterThan(100);
    expect(waitOf('phone', 10_000)).toBeGreaterThan(300);
  });

  it('gives a fast service the more time, as a premature look would cost a whole interval', () => {
    const waitAfter = (foundMs: number): number => {
      const pace = new PollEstimator();
      looked(pace.begin('parsing', emails(1000)), foundMs);
      return pace.begin('parsing', emails(1000)).enoughMs - foundMs;
    };
    expect([40, 100, 3000].map(waitAfter)).toEqual([20, 30, 30]);
  });

  it('learns of each type by itself', () => {
    const pace = new PollEstimator();
    looked(pace.begin('parsing', emails(1000)), 40);
    expect(pace.begin('parsing', { type: 'phone', addresses: 1000 }).enoughMs).toBe(Infinity);
    expect(pace.begin('parsing', emails(1000)).enoughMs).toBe(60);
  });

  it('has batches of unknown pace look in turn, ever longer after they entered the stage', () => {
    const pace = new PollEstimator();
    const [first, second] = [pace.begin('parsing', emails(1)), pace.begin('parsing', emails(1))];
    const guessMs = first.firstWaitMs(intervalMs);
    expect(second.firstWaitMs(intervalMs)).toBe(guessMs);
    let reported = 0;
    second.onLearnt(() => (reported += 1));
    first.look(guessMs);
    expect(reported).toBe(1);
    expect(second.firstWaitMs(intervalMs)).toBe(guessMs + intervalMs / 2);
    second.look(20_000);
    expect(pace.begin('parsing', emails(1)).firstWaitMs(intervalMs)).toBe(22_000);
  });

  it('lets no batch wait for its turn longer than half a minute', () => {
    const pace = new PollEstimator();
    pace.begin('parsing', emails(1)).look(3_600_000);
    expect(pace.begin('parsing', emails(1)).firstWaitMs(intervalMs)).toBe(30_000);
    expect(pace.begin('parsing', emails(1)).firstWaitMs(60_000)).toBe(60_000);
  });

  it('comes within a twentieth of a steady service in a few batches', () => {
    const pace = new PollEstimator();
    const trueMs = 2000;
    let waitMs = 0;
    for (let batch = 0; batch < 12; batch += 1) {
      const timing = pace.begin('verifying', emails(1000));
      waitMs = timing.firstWaitMs(intervalMs);
      const looks = [waitMs];
      while ((looks.at(-1) ?? 0) < trueMs) looks.push((looks.at(-1) ?? 0) + intervalMs);
      looked(timing, ...looks);
    }
    expect(waitMs).toBeGreaterThanOrEqual(trueMs);
    expect(waitMs).toBeLessThan(trueMs * 1.05);
  });

  it('has one batch at a time look where it may be too soon, the next when its look has told', () => {
    const pace = new PollEstimator();
    for (let batch = 0; batch < 3; batch += 1)
      looked(pace.begin('parsing', emails(1000)), 1000, 3000);
    const [first, second] = [
      pace.begin('parsing', emails(1000)),
      pace.begin('parsing', emails(1000)),
    ];
    expect(first.firstWaitMs(intervalMs)).toBe(2165);
    expect(second.firstWaitMs(intervalMs)).toBe(3030);
    first.look(2165);
    first.miss();
    expect(second.firstWaitMs(intervalMs)).toBeGreaterThan(2165);
    expect(second.firstWaitMs(intervalMs)).toBeLessThan(3030);
  });

  it('looks too soon the more readily the more batches have come, and not at all for little', () => {
    const waitAfter = (batches: number): number => {
      const pace = new PollEstimator();
      for (let batch = 0; batch < batches; batch += 1) {
        looked(pace.begin('parsing', emails(1000)), 1800, 2000);
      }
      return pace.begin('parsing', emails(1000)).firstWaitMs(intervalMs);
    };
    expect(waitAfter(2)).toBe(2030);
    expect(waitAfter(15)).toBeLessThan(2030);
    expect(waitAfter(30)).toBeLessThan(waitAfter(15));
    expect(waitAfter(30)).toBeGreaterThan(1900);
  });

  it('tells those that wait when one of them is through', () => {
    const pace = new PollEstimator();
    const [first, second] = [
      pace.begin('parsing', emails(1000)),
      pace.begin('parsing', emails(1000)),
    ];
    let reported = 0;
    const stop = second.onLearnt(() => (reported += 1));
    expect(second.enoughMs).toBe(Infinity);
    first.look(40);
    reported = 0;
    first.end(true, intervalMs);
    expect([reported, second.enoughMs]).toEqual([1, 60]);
    stop();
    looked(pace.begin('parsing', emails(1000)), 30);
    expect(reported).toBe(1);
  });

  it('keeps stages and sizes apart, but takes another size for a guess', () => {
    const pace = new PollEstimator();
    looked(pace.begin('parsing', emails(50_000)), 4000);
    expect(pace.begin('parsing', emails(10)).firstWaitMs(intervalMs)).toBe(4030);
    expect(pace.begin('verifying', emails(50_000)).firstWaitMs(intervalMs)).toBeLessThan(
      intervalMs,
    );
    looked(pace.begin('parsing', emails(10)), 5);
    expect(pace.begin('parsing', emails(10)).firstWaitMs(intervalMs)).toBe(7.5);
    expect(pace.begin('parsing', emails(50_000)).enoughMs).toBe(4030);
  });

  it('puts off the looks of the others when one comes too soon, by no more than it must', () => {
    const pace = new PollEstimator();
    looked(pace.begin('parsing', emails(10)), 100);
    const [first, second] = [pace.begin('parsing', emails(10)), pace.begin('parsing', emails(10))];
    expect([first, second].map((timing) => timing.firstWaitMs(intervalMs))).toEqual([130, 130]);
    let reported = 0;
    second.onLearnt(() => (reported += 1));
    first.look(130);
    first.miss();
    expect(reported).toBe(1);
    expect(second.firstWaitMs(intervalMs)).toBe(195);
  });

  it('puts them off twice as long each time, and by half of the time at most', () => {
    const pace = new PollEstimator();
    looked(pace.begin('parsing', emails(10)), 1990, 2000);
    const waits = [0, 1, 2].map(() => {
      const batch = pace.begin('parsing', emails(10));
      const waitMs = batch.firstWaitMs(intervalMs);
      batch.look(waitMs);
      batch.miss();
      return waitMs;
    });
    expect(waits).toEqual([2030, 2110, 2270]);
    expect(pace.begin('parsing', emails(10)).enoughMs).toBe(2590);
  });

  it('looks a little after a time that was enough, and not at all sooner for a batch that was faster by less', () => {
    const pace = new PollEstimator();
    looked(pace.begin('parsing', emails(10)), 1990, 2000);
    const { enoughMs } = pace.begin('parsing', emails(10));
    expect(enoughMs).toBe(2030);
    looked(pace.begin('parsing', emails(10)), 2010);
    expect(pace.begin('parsing', emails(10)).firstWaitMs(intervalMs)).toBe(enoughMs);
  });

  it('follows a service that becomes slower, and after a while one that becomes faster', () => {
    const pace = new PollEstimator();
    looked(pace.begin('parsing', emails(10)), 100);
    looked(pace.begin('parsing', emails(10)), 900, 1900);
    expect(pace.begin('parsing', emails(10)).enoughMs).toBe(1930);
    looked(pace.begin('parsing', emails(10)), 1850, 1900);
    const steady = pace.begin('parsing', emails(10));
    expect(steady.firstWaitMs(intervalMs)).toBe(1930);
    for (let batch = 0; batch < 40; batch += 1) looked(pace.begin('parsing', emails(10)), 1900);
    expect(pace.begin('parsing', emails(10)).firstWaitMs(intervalMs)).toBeLessThan(1500);
  });

  it('learns nothing from a batch that fails or leaves unseen', () => {
    const pace = new PollEstimator();
    const failed = pace.begin('parsing', emails(10));
    failed.look(50);
    failed.end(false, intervalMs);
    pace.begin('parsing', emails(10)).end(true, intervalMs);
    expect(pace.begin('parsing', emails(10)).enoughMs).toBe(Infinity);
  });
});
