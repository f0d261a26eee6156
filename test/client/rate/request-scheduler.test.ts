import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { longestRetryAfterMs } from '../../../src/client/rate/rate-headers.js';
import {
  RequestScheduler,
  type Outcome,
  type Permit,
  type Turn,
} from '../../../src/client/rate/request-scheduler.js';
import type { DeadlineError } from '../../../src/platform/errors/errors.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { caught } from '../test-client.js';

const failure = new Error('503');

function createGovernor(options: Partial<ConstructorParameters<typeof RequestScheduler>[0]> = {}): {
  readonly clock: TestClock;
  readonly scheduler: RequestScheduler;
} {
  const clock = new TestClock();
  const scheduler = new RequestScheduler({
    clock,
    origin: 'https://verify.example.com',
    random: () => 0.5,
    maxConcurrentRequests: 16,
    giveUpAfterMs: 600_000,
    ...options,
  });
  return { clock, scheduler };
}

function turnOf(clock: TestClock, given: Partial<Turn> = {}): Turn {
  const now = clock.now();
  return { priority: 1, safe: true, attempt: 1, since: now, notBefore: now, ...given };
}

/** A service in simulated time: how it answers a request that began at a moment. */
type Answer = (startedAt: number, count: number) => Outcome;

/** Sends requests until they are answered, as the client does; every start is written down. */
function createLoad(clock: TestClock, scheduler: RequestScheduler, answer: Answer, latencyMs = 50) {
  const starts: number[] = [];
  const ask = async (given: Partial<Turn> = {}): Promise<void> => {
    const since = clock.now();
    for (let attempt = 1; ; attempt += 1) {
      const permit = await scheduler.acquire(turnOf(clock, { ...given, since, attempt }));
      const startedAt = clock.now();
      starts.push(startedAt);
      const count = starts.length;
      await clock.sleep(latencyMs);
      const outcome = answer(startedAt, count);
      permit.settle(outcome);
      if (outcome.kind === 'answered') return;
    }
  };
  return { starts, ask };
}

const answered: Outcome = { kind: 'answered' };

describe('the number of requests at once', () => {
  test('is bounded', async () => {
    const { clock, scheduler } = createGovernor({ maxConcurrentRequests: 3 });
    let running = 0;
    let most = 0;
    const ask = async (): Promise<void> => {
      const permit = await scheduler.acquire(turnOf(clock));
      running += 1;
      most = Math.max(most, running);
      await clock.sleep(10);
      running -= 1;
      permit.settle(answered);
    };
    await clock.runUntil(Promise.all(Array.from({ length: 20 }, ask)));
    expect(most).toBe(3);
    expect(clock.sleeping).toBe(0);
  });

  test('is given back once, however often a permit is settled', async () => {
    const { clock, scheduler } = createGovernor({ maxConcurrentRequests: 1 });
    const first = await scheduler.acquire(turnOf(clock));
    first.settle(answered);
    first.settle(answered);
    await scheduler.acquire(turnOf(clock));
    let isThird = false;
    void scheduler.acquire(turnOf(clock)).then(() => (isThird = true));
    await clock.advance(1000);
    expect(isThird).toBe(false);
  });

  test('falls after a 429 and comes back slowly', async () => {
    const { clock, scheduler } = createGovernor({ maxConcurrentRequests: 8 });
    const permits = await Promise.all(
      Array.from({ length: 8 }, async () => scheduler.acquire(turnOf(clock))),
    );
    // One burst refused together counts once.
    for (const permit of permits) permit.settle({ kind: 'throttled', error: failure });
    await clock.advance(60_000);
    let running = 0;
    const take = async (): Promise<Permit> => {
      const permit = await scheduler.acquire(turnOf(clock));
      running += 1;
      return permit;
    };
    const next = Array.from({ length: 8 }, take);
    await clock.advance(60_000);
    expect(running).toBe(4);
    for (let count = 0; count < 40; count += 1) {
      (await next.shift())?.settle(answered);
      running -= 1;
      next.push(take());
      await clock.advance(1000);
    }
    expect(running).toBe(8);
  });
});

describe('who goes first', () => {
  test('is the urgent one, then who came first', async () => {
    const { clock, scheduler } = createGovernor({ maxConcurrentRequests: 1 });
    const order: string[] = [];
    const ask = async (name: string, priority: number): Promise<void> => {
      const permit = await scheduler.acquire(turnOf(clock, { priority }));
      order.push(name);
      await clock.sleep(10);
      permit.settle(answered);
    };
    const asked = [
      ask('running', 4),
      ask('poll 1', 4),
      ask('poll 2', 4),
      ask('upload', 2),
      ask('launch 1', 0),
      ask('launch 2', 0),
    ];
    await clock.runUntil(Promise.all(asked));
    expect(order).toEqual(['running', 'launch 1', 'launch 2', 'upload', 'poll 1', 'poll 2']);
  });

  test('is in the end who has waited long enough', async () => {
    const { clock, scheduler } = createGovernor({ maxConcurrentRequests: 1 });
    const { ask } = createLoad(clock, scheduler, () => answered, 1000);
    let isPolled = false;
    const urgent = async (): Promise<void> => {
      while (!isPolled) await ask({ priority: 0 });
    };
    const poll = async (): Promise<void> => {
      await ask({ priority: 4 });
      isPolled = true;
    };
    await clock.runUntil(Promise.all([urgent(), urgent(), urgent(), poll()]));
    expect(clock.now()).toBeLessThan(60_000);
  });
});

describe('after a 429', () => {
  test('no request goes out before the service’s own wait is over', async () => {
    const waits = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(waits, fc.integer({ min: 1, max: 40 }), async (waits, every) => {
        const { clock, scheduler } = createGovernor();
        const closed: { readonly from: number; readonly to: number }[] = [];
        const left = [...waits];
        const { starts, ask } = createLoad(clock, scheduler, (_, count) => {
          if (count % every !== 0) return answered;
          const retryAfterMs = left.shift();
          if (retryAfterMs === undefined) return answered;
          closed.push({ from: clock.now(), to: clock.now() + retryAfterMs });
          return { kind: 'throttled', error: failure, retryAfterMs };
        });
        await clock.runUntil(Promise.all(Array.from({ length: 100 }, async () => ask())));
        for (const { from, to } of closed) {
          expect(starts.filter((at) => at > from && at < to)).toEqual([]);
        }
      }),
      { numRuns: 50 },
    );
  });

  for (const retryAfterMs of [0, undefined]) {
    test(`that asks for ${retryAfterMs} it waits by itself, longer each time`, async () => {
      const { clock, scheduler } = createGovernor({ giveUpAfterMs: 1e9 });
      const { starts, ask } = createLoad(clock, scheduler, (_, count) =>
        count < 8 ? { kind: 'throttled', error: failure, retryAfterMs } : answered,
      );
      await clock.runUntil(ask());
      const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
      expect(gaps[0]).toBeGreaterThanOrEqual(500);
      expect(gaps.every((gap, index) => index === 0 || gap >= (gaps[index - 1] ?? 0))).toBe(true);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(61_000);
    });
  }

  test('never stops for longer than five minutes at a time', async () => {
    const { clock, scheduler } = createGovernor({ giveUpAfterMs: 1e9 });
    const { ask } = createLoad(clock, scheduler, (_, count) =>
      count === 1
        ? { kind: 'throttled', error: failure, retryAfterMs: longestRetryAfterMs }
        : answered,
    );
    await clock.runUntil(ask());
    expect(clock.now()).toBeLessThan(longestRetryAfterMs + 1000);
  });
});

/** A service that takes so many requests in each fixed minute. */
function createMinuteLimit(
  clock: TestClock,
  limit: number,
  says: 'all' | 'no reset' | 'retry-after' | 'nothing',
): { readonly answer: Answer; readonly refused: () => number } {
  let refused = 0;
  const taken = new Map<number, number>();
  const answer: Answer = (startedAt) => {
    const minute = Math.floor(startedAt / 60_000);
    const used = (taken.get(minute) ?? 0) + 1;
    taken.set(minute, used);
    const resetMs = (minute + 1) * 60_000 - clock.now();
    const limits =
      says === 'all' || says === 'no reset'
        ? {
            limit,
            remaining: Math.max(0, limit - used),
            resetMs: says === 'all' ? Math.max(0, resetMs) : undefined,
          }
        : undefined;
    if (used <= limit) return { kind: 'answered', limits };
    refused += 1;
    return {
      kind: 'throttled',
      error: failure,
      limits,
      retryAfterMs: says === 'nothing' ? undefined : Math.max(0, resetMs),
    };
  };
  return { answer, refused: () => refused };
}

describe('a service with 180 requests a minute', () => {
  for (const [says, mostRefused, mostMinutes] of [
    ['all', 0, 6],
    ['no reset', 0, 7],
    ['retry-after', 50, 7],
    ['nothing', 80, 7],
  ] as const) {
    test(`gets 1000 requests through without many refusals when it says ${says}`, async () => {
      const { clock, scheduler } = createGovernor();
      const service = createMinuteLimit(clock, 180, says);
      const { ask } = createLoad(clock, scheduler, service.answer);
      await clock.runUntil(Promise.all(Array.from({ length: 1000 }, async () => ask())));
      expect(service.refused()).toBeLessThanOrEqual(mostRefused);
      expect(clock.now() / 60_000).toBeLessThan(mostMinutes);
    });
  }
});

test.each([3_600_000, undefined])(
  'headers that call a window of %s ms used up, while it lets requests through, cost one pause',
  async (resetMs) => {
    const { clock, scheduler } = createGovernor();
    const limits = { limit: 180, remaining: 0, resetMs };
    const { ask } = createLoad(clock, scheduler, () => ({ kind: 'answered', limits }));
    const askAll = async (): Promise<void> => {
      for (let count = 0; count < 100; count += 1) await ask();
    };
    await clock.runUntil(askAll());
    expect(clock.now()).toBeLessThan(2 * 60_000);
  },
);

test('headers that were wrong about one window are believed about the next', async () => {
  const { clock, scheduler } = createGovernor();
  const service = createMinuteLimit(clock, 180, 'all');
  const limits = { limit: 180, remaining: 0, resetMs: undefined };
  const { ask } = createLoad(clock, scheduler, (startedAt, count) =>
    startedAt < 110_000 ? { kind: 'answered', limits } : service.answer(startedAt, count),
  );
  const askAll = async (): Promise<void> => {
    while (clock.now() < 120_000) {
      await ask();
      await clock.sleep(1000);
    }
    await Promise.all(Array.from({ length: 1000 }, async () => ask()));
  };
  await clock.runUntil(askAll());
  expect(service.refused()).toBe(0);
});

describe('during an outage', () => {
  /** Pollers that ask every second while the service is away from one moment to another. */
  async function simulate(pollers: number, downFrom: number, downTo: number, until: number) {
    const { clock, scheduler } = createGovernor({ giveUpAfterMs: 1e9 });
    const { starts, ask } = createLoad(clock, scheduler, (startedAt) =>
      startedAt >= downFrom && startedAt < downTo ? { kind: 'failed', error: failure } : answered,
    );
    const poll = async (): Promise<void> => {
      while (clock.now() < until) {
        await ask();
        await clock.sleep(1000);
      }
    };
    await clock.runUntil(Promise.all(Array.from({ length: pollers }, poll)));
    const within = (from: number, to: number): number =>
      starts.filter((at) => at >= from && at < to).length;
    return { within, sleeping: clock.sleeping };
  }

  test('fewer requests go out than in service', async () => {
    const minute = 60_000;
    const { within } = await simulate(8, 5 * minute, 15 * minute, 25 * minute);
    const before = within(0, 5 * minute) / 5;
    expect(within(5 * minute, 15 * minute) / 10).toBeLessThan(before / 20);
    expect(within(5 * minute, 5 * minute + 10_000)).toBeLessThan(before / 6);
  });

  test('one probe at a time finds out that it is over, and everything goes on', async () => {
    const minute = 60_000;
    const { within, sleeping } = await simulate(8, 5 * minute, 15 * minute, 25 * minute);
    const before = within(0, 5 * minute) / 5;
    expect(within(17 * minute, 25 * minute) / 8).toBeGreaterThan(before * 0.9);
    expect(sleeping).toBe(0);
  });

  test('the probe is a request that may be repeated, if one waits', async () => {
    const { clock, scheduler } = createGovernor();
    const { ask } = createLoad(clock, scheduler, () => ({ kind: 'failed', error: failure }));
    for (let count = 0; count < 5; count += 1) {
      const permit = await scheduler.acquire(turnOf(clock));
      permit.settle({ kind: 'failed', error: failure });
    }
    let isLaunched = false;
    void scheduler.acquire(turnOf(clock, { priority: 0, safe: false })).then(
      () => (isLaunched = true),
      () => undefined,
    );
    void caught(ask({ priority: 4 }));
    await clock.advance(300_000);
    expect(isLaunched).toBe(false);
    scheduler.close();
  });

  test('the probe is not always the one request that fails whatever the service does', async () => {
    const { clock, scheduler } = createGovernor();
    const doomed = createLoad(clock, scheduler, () => ({ kind: 'failed', error: failure }));
    void caught(doomed.ask({ priority: 0 }));
    await clock.advance(300_000);
    const others = createLoad(clock, scheduler, () => answered);
    await clock.runUntil(Promise.all(Array.from({ length: 20 }, async () => others.ask())));
    expect(scheduler.failing).toBeUndefined();
    scheduler.close();
  });

  test('single failures among successes change nothing', async () => {
    const { clock, scheduler } = createGovernor();
    const { starts, ask } = createLoad(clock, scheduler, (_, count) =>
      count % 3 === 0 ? { kind: 'failed', error: failure } : answered,
    );
    await clock.runUntil(Promise.all(Array.from({ length: 300 }, async () => ask())));
    expect(starts.length).toBeLessThan(460);
    expect(clock.now()).toBeLessThan(2000);
  });
});

describe('a service that stays away', () => {
  test('is given up with the latest error, for all that wait', async () => {
    const { clock, scheduler } = createGovernor({ giveUpAfterMs: 60_000 });
    const { ask } = createLoad(clock, scheduler, () => ({ kind: 'failed', error: failure }));
    const asked = Array.from({ length: 30 }, async () => caught(ask()));
    const errors = await clock.runUntil(Promise.all(asked));
    for (const error of errors) {
      expect(error).toMatchObject({ code: 'service_unavailable', cause: failure });
    }
    expect(clock.now()).toBeGreaterThanOrEqual(60_000);
    expect(clock.now()).toBeLessThan(61_000);
    expect(clock.sleeping).toBe(0);
  });

  test('is given up for a request that was never sent as unsent, whatever happened to another', async () => {
    const { clock, scheduler } = createGovernor({ giveUpAfterMs: 10_000 });
    const { ask } = createLoad(clock, scheduler, () => ({ kind: 'failed', error: failure }));
    await clock.runUntil(caught(ask()));
    expect(await clock.runUntil(caught(ask()))).toMatchObject({ sent: 'no', retryable: true });
    const again = scheduler.acquire(turnOf(clock, { sent: 'unknown' }));
    expect(await clock.runUntil(caught(again))).toMatchObject({
      sent: 'unknown',
    });
  });

  test('is asked again after the pause that the error names', async () => {
    const { clock, scheduler } = createGovernor({ giveUpAfterMs: 10_000 });
    let isBack = false;
    const { ask } = createLoad(clock, scheduler, () =>
      isBack ? answered : { kind: 'failed', error: failure },
    );
    const { retryAfterMs = 0 } = (await clock.runUntil(caught(ask()))) as DeadlineError;
    isBack = true;
    await clock.advance(retryAfterMs - 1);
    expect(await clock.runUntil(caught(ask()))).toMatchObject({
      code: 'service_unavailable',
      retryAfterMs: 1,
    });
    await clock.advance(1);
    await clock.runUntil(ask());
  });

  test('is given up at whatever fraction of a millisecond it went away', async () => {
    for (const since of [100_007.3, 100_043.8, 100_080.3]) {
      const { clock, scheduler } = createGovernor({ giveUpAfterMs: 60_000 });
      await clock.advance(since);
      const { ask } = createLoad(clock, scheduler, () => ({ kind: 'failed', error: failure }));
      expect(await clock.runUntil(caught(ask()))).toMatchObject({ code: 'service_unavailable' });
    }
  });

  test('counts as away while it only answers 429', async () => {
    const { clock, scheduler } = createGovernor({ giveUpAfterMs: 60_000 });
    const { ask } = createLoad(clock, scheduler, () => ({ kind: 'throttled', error: failure }));
    expect(await clock.runUntil(caught(ask()))).toMatchObject({ code: 'service_unavailable' });
    expect(clock.now()).toBeLessThan(61_000);
  });

  test.each([1, 2])(
    'has all its time again when the machine has slept for a night (%i)',
    async (failures) => {
      let sleptMs = 0;
      const awake = new TestClock();
      const clock = {
        now: () => awake.now() + sleptMs,
        wallNow: () => awake.wallNow() + sleptMs,
        sleep: async (ms: number, signal?: AbortSignal) => awake.sleep(ms, signal),
      };
      const { scheduler } = createGovernor({ clock });
      const fail = async (): Promise<void> =>
        (await scheduler.acquire(turnOf(awake))).settle({ kind: 'failed', error: failure });
      for (let count = 0; count < 5; count += 1) await fail();
      const waiting = fail();
      const last = waiting.then(async () => {
        if (failures === 2) await fail();
        (await scheduler.acquire(turnOf(awake))).settle(answered);
      });
      sleptMs = 8 * 3_600_000;
      await awake.runUntil(last);
      expect(scheduler.failing).toBeUndefined();
    },
  );

  test('is given a new chance by whoever comes much later', async () => {
    const { clock, scheduler } = createGovernor({ giveUpAfterMs: 60_000 });
    let isDown = true;
    const { ask } = createLoad(clock, scheduler, () =>
      isDown ? { kind: 'failed', error: failure } : answered,
    );
    await clock.runUntil(caught(ask()));
    isDown = false;
    expect(await clock.runUntil(caught(ask()))).toMatchObject({ code: 'service_unavailable' });
    await clock.advance(300_000);
    await clock.runUntil(ask());
  });

  test('is not given up for failures long ago when nothing was asked since', async () => {
    const { clock, scheduler } = createGovernor({ giveUpAfterMs: 600_000 });
    (await scheduler.acquire(turnOf(clock))).settle({ kind: 'failed', error: failure });
    await clock.advance(3_600_000);
    const permit = await scheduler.acquire(turnOf(clock));
    permit.settle({ kind: 'failed', error: failure });
    const again = scheduler.acquire(turnOf(clock));
    await clock.advance(1000);
    expect(await again).toBeDefined();
  });
});

describe('what ends a wait', () => {
  test('is an abort, with its own reason, and the next one goes', async () => {
    const { clock, scheduler } = createGovernor({ maxConcurrentRequests: 1 });
    const running = await scheduler.acquire(turnOf(clock));
    const stop = new AbortController();
    const aborted = caught(scheduler.acquire(turnOf(clock, { signal: stop.signal })));
    const next = scheduler.acquire(turnOf(clock));
    stop.abort('enough');
    expect(await aborted).toBe('enough');
    running.settle({ kind: 'dropped' });
    (await next).settle(answered);
    await turn();
    expect(clock.sleeping).toBe(0);
  });

  test('is the end of the client', async () => {
    const { clock, scheduler } = createGovernor({ maxConcurrentRequests: 1 });
    await scheduler.acquire(turnOf(clock));
    const waiting = caught(scheduler.acquire(turnOf(clock)));
    scheduler.close();
    expect(await waiting).toMatchObject({ code: 'invalid_option' });
    expect(await caught(scheduler.acquire(turnOf(clock)))).toMatchObject({
      code: 'invalid_option',
    });
    expect(clock.sleeping).toBe(0);
  });
});
