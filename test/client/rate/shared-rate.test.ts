import { describe, expect, it, onTestFinished } from 'vitest';
import { RequestScheduler, type Outcome } from '../../../src/client/rate/request-scheduler.js';
import { intervalOf } from '../../../src/client/rate/rate-limiter.js';
import type { RateUpdate, SharedRate } from '../../../src/client/rate/shared-rate.js';
import { DeadlineError } from '../../../src/platform/errors/errors.js';
import { MemoryDatabase } from '../../trials/simulation/memory/memory-database.js';
import { openMemoryStore } from '../../trials/simulation/memory/memory-store.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { limitKinds, sendRequests, underLimit } from './limited-service.js';
import { caught } from '../test-client.js';

const minuteMs = 60_000;

/** Lets processes begin that share a pace, each with the rate that it is given. */
function sharing(...requestsPerMinute: readonly (number | undefined)[]) {
  return async (
    clock: TestClock,
    start: () => RequestScheduler,
  ): Promise<readonly RequestScheduler[]> => {
    const database = new MemoryDatabase(() => clock.now());
    const travel = async <Answer>(step: () => Answer): Promise<Answer> => {
      await clock.sleep(3);
      const answer = step();
      await clock.sleep(3);
      return answer;
    };
    const schedulers: RequestScheduler[] = [];
    for (const given of requestsPerMinute) {
      const store = await clock.runUntil(
        openMemoryStore(database, { clock, leaseMs: 30_000 }, travel),
      );
      onTestFinished(async () => clock.runUntil(store.close()));
      const intervalMs = given === undefined ? 0 : intervalOf(given);
      const pace = await clock.runUntil(store.joinPace({ account: async () => 'a', intervalMs }));
      const scheduler = start();
      scheduler.share(pace);
      schedulers.push(scheduler);
    }
    return schedulers;
  };
}

/** Most of some moments, in their order, in any stretch of time. */
function mostIn(windowMs: number, moments: readonly number[]): number {
  let [first, most] = [0, 0];
  for (const [index, at] of moments.entries()) {
    while ((moments[first] ?? at) <= at - windowMs) first += 1;
    most = Math.max(most, index + 1 - first);
  }
  return most;
}

describe('processes that share a pace', () => {
  it('keep a given rate together in every minute, and use it', async () => {
    const moments: number[] = [];
    const answer = (atMs: number): Outcome => {
      moments.push(atMs);
      return { kind: 'answered' };
    };
    await sendRequests(answer, {
      waiting: 32,
      untilMs: 5 * minuteMs,
      begin: sharing(120, 120, undefined, 600),
    });
    expect(mostIn(minuteMs, moments)).toBeLessThanOrEqual(120);
    expect(moments.length).toBeGreaterThan(5 * 117);
  });

  it('send nothing a second after one of them was refused, for as long as it was asked to wait', async () => {
    const moments: number[] = [];
    const answer = (atMs: number): Outcome => {
      moments.push(atMs);
      return moments.length === 400
        ? { kind: 'throttled', error: new Error('429'), retryAfterMs: 30_000 }
        : { kind: 'answered' };
    };
    const begin = sharing(undefined, undefined, undefined, undefined);
    await sendRequests(answer, { waiting: 8, requests: 1000, begin });
    const refusedAt = moments[399] ?? 0;
    const inside = moments.filter((at) => at > refusedAt + 1050 && at < refusedAt + 30_000);
    expect(inside).toEqual([]);
    expect(moments.length).toBe(1001);
  });

  for (const kind of limitKinds) {
    it(`learn what a service takes of all of them: ${kind}`, async () => {
      const begin = sharing(undefined, undefined, undefined, undefined);
      const { taken, refused } = await underLimit(kind, 300, 30, begin);
      expect(taken).toBeGreaterThan(0.85);
      // Until all have heard of a refusal, others are refused as well.
      expect(refused).toBeLessThan(0.15);
    });
  }
});

/** A pace whose slots and news the test gives. */
class GivenPace implements SharedRate {
  asked = 0;
  hear: (update: RateUpdate) => void = () => undefined;
  slot: () => Promise<number> = async () => 0;
  readonly pauses: number[] = [];

  async takeSlot(): Promise<number> {
    this.asked += 1;
    return this.slot();
  }

  pause(ms: number): void {
    this.pauses.push(ms);
  }

  listen(listener: (update: RateUpdate) => void): () => void {
    this.hear = listener;
    return () => {
      this.hear = () => undefined;
    };
  }
}

function governed() {
  const clock = new TestClock();
  const scheduler = new RequestScheduler({
    clock,
    origin: 'https://verify.example.com',
    random: () => 0,
    maxConcurrentRequests: 16,
    giveUpAfterMs: 600_000,
  });
  const pace = new GivenPace();
  const leave = scheduler.share(pace);
  const starts: number[] = [];
  const ask = async (outcome: Outcome = { kind: 'answered' }): Promise<void> => {
    const now = clock.now();
    const turn = { priority: 1, keyed: true, safe: true, attempt: 1, since: now, notBefore: now };
    const permit = await scheduler.acquire(turn);
    starts.push(clock.now());
    permit.settle(outcome);
  };
  return { clock, scheduler, pace, leave, starts, ask };
}

const throttled = (retryAfterMs: number): Outcome => ({
  kind: 'throttled',
  error: new Error('429'),
  retryAfterMs,
});

describe('a client that shares its pace', () => {
  it('asks for no slot while no rate is given, and for one for each request from then on', async () => {
    const { clock, pace, starts, ask, leave } = governed();
    await Promise.all([ask(), ask(), ask()]);
    expect(pace.asked).toBe(0);
    pace.hear({ intervalMs: 1000, pausedMs: 0 });
    let next = 0;
    pace.slot = async () => (next += 700);
    const asked = [ask(), ask()];
    await clock.advance(3000);
    await Promise.all(asked);
    expect(pace.asked).toBe(2);
    expect(starts.slice(3)).toEqual([700, 2100]);
    leave();
    await ask();
    expect(pace.asked).toBe(2);
  });

  it('uses no slot that has passed, and none that was answered too late', async () => {
    const { clock, pace, starts, ask } = governed();
    pace.hear({ intervalMs: 1000, pausedMs: 0 });
    const late = [700, 0, 0];
    pace.slot = async () => {
      await clock.sleep(late.shift() ?? 0);
      return 0;
    };
    const first = ask();
    await clock.advance(700);
    await first;
    expect(starts).toEqual([700]);
    expect(pace.asked).toBe(2);
    pace.slot = async () => 100;
    const second = ask();
    await clock.advance(50);
    pace.hear({ intervalMs: 1000, pausedMs: 5000 });
    await clock.advance(6000);
    await second;
    expect(starts[1]).toBeGreaterThanOrEqual(5850);
    expect(pace.asked).toBe(4);
  });

  it('tells a pause that it was asked for once, and none that it has heard of', async () => {
    const { clock, pace, ask } = governed();
    await Promise.all([ask(throttled(2000)), ask(throttled(2000))]);
    expect(pace.pauses).toEqual([2000]);
    await clock.advance(3000);
    pace.hear({ intervalMs: 0, pausedMs: 9000 });
    const waiting = ask(throttled(100));
    await clock.advance(8900);
    expect(pace.pauses).toEqual([2000]);
    await clock.advance(100);
    await waiting;
    expect(pace.pauses).toEqual([2000]);
  });

  it('refuses what waits when there are no slots any more', async () => {
    const { pace, ask } = governed();
    pace.hear({ intervalMs: 1000, pausedMs: 0 });
    const error = new DeadlineError('cannot reach the store');
    pace.slot = async () => Promise.reject(error);
    expect(await caught(ask())).toBe(error);
  });
});

it('keeps a rate that one client was given in every minute', async () => {
  const moments: number[] = [];
  const answer = (atMs: number): Outcome => {
    moments.push(atMs);
    return { kind: 'answered' };
  };
  await sendRequests(answer, {
    waiting: 16,
    untilMs: 3 * minuteMs,
    begin: async (clock) => [
      new RequestScheduler({
        clock,
        origin: 'https://verify.example.com',
        random: () => 0.5,
        maxConcurrentRequests: 16,
        giveUpAfterMs: 600_000,
        requestsPerMinute: 60,
      }),
    ],
  });
  expect(mostIn(minuteMs, moments)).toBeLessThanOrEqual(60);
  expect(moments.length).toBeGreaterThan(3 * 58);
});
