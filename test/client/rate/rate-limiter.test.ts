import { describe, expect, test } from 'vitest';
import { Client } from '../../../src/client/client.js';
import type { Clock } from '../../../src/platform/waiting/clock.js';
import { createService } from '../../../src/service/create-service.js';
import { createFastClock } from '../../../src/testing/test-clock.js';
import {
  limitedService,
  limitKinds,
  moodyService,
  sendRequests,
  underLimit,
} from './limited-service.js';

const requests = 43;
const minuteMs = 60_000;

describe('six answers of 429 in a run', () => {
  const places = {
    'the first six': (count: number) => count <= 6,
    'every second': (count: number) => count % 2 === 0,
    'every third': (count: number) => count % 3 === 0,
    'every seventh': (count: number) => count % 7 === 0,
  };
  for (const [which, isRefused] of Object.entries(places)) {
    for (const askedMs of [1000, 2500, 60_000]) {
      for (const waiting of [1, 4, 16]) {
        test(`cost hardly more than they ask for: ${which}, ${askedMs} ms, ${waiting} at once`, async () => {
          const undisturbed = await sendRequests(() => ({ kind: 'answered' }), {
            waiting,
            requests,
          });
          const { answer } = moodyService(isRefused, askedMs, 6);
          expect(await sendRequests(answer, { waiting, requests })).toBeLessThan(
            1.5 * 6 * askedMs + undisturbed,
          );
        });
      }
    }
  }
});

test('endless answers of 429 that no pace helps against do not slow a run down more and more', async () => {
  const service = moodyService((count) => count % 5 === 0, 1000);
  const tookMs = await sendRequests(service.answer, { waiting: 4, requests: 500 });
  expect(tookMs).toBeLessThan(4 * service.asked);
});

describe('a steady limit', () => {
  for (const kind of limitKinds) {
    for (const [perMinute, minutes] of [
      [60, 60],
      [300, 15],
      [3000, 3],
    ] as const) {
      test(`of ${perMinute} a minute is used and kept to: ${kind}`, async () => {
        const { taken, refused } = await underLimit(kind, perMinute, minutes);
        expect(taken).toBeGreaterThan(0.9);
        expect(refused).toBeLessThan(0.02);
      });
    }
  }

  for (const kind of limitKinds) {
    test(`that is lifted is found out: ${kind}`, async () => {
      const liftedMs = 3 * minuteMs;
      let perMinute = 300;
      const service = limitedService(kind, () => perMinute);
      let before = 0;
      const answer = (atMs: number): ReturnType<typeof service.answer> => {
        if (perMinute === 300 && atMs >= liftedMs) [perMinute, before] = [1e9, service.taken];
        return service.answer(atMs);
      };
      // Ten times what the limit allowed in that time.
      await sendRequests(answer, { waiting: 32, untilMs: liftedMs + 90_000 });
      expect(service.taken - before).toBeGreaterThan(10 * 300 * 1.5);
    });
  }
});

test('a burst that is refused together counts once', async () => {
  const took = async (burst: number): Promise<number> => {
    const { answer } = moodyService((count) => count > 100 && count <= 100 + burst, 1000, burst);
    return sendRequests(answer, { waiting: 16, requests: 400 });
  };
  expect(Math.abs((await took(16)) - (await took(1)))).toBeLessThan(1000);
});

describe('over HTTP', () => {
  async function ask(
    options: Parameters<typeof createService>[0],
    count: number,
    waiting: number,
    clock: Clock,
  ) {
    const service = await createService(options);
    let refused = 0;
    const client = new Client({
      baseUrl: service.baseUrl,
      apiKey: service.apiKey,
      clock,
      // As long on a clock that hurries as on one that does not.
      timeoutMs: 3_600_000,
      onRequest: ({ status }) => (refused += status === 429 ? 1 : 0),
    });
    let left = count;
    const startedMs = clock.now();
    const send = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await client.credits();
      }
    };
    try {
      await Promise.all(Array.from({ length: waiting }, send));
      return { tookMs: clock.now() - startedMs, refused };
    } finally {
      await client.close();
      await service.close();
    }
  }

  test('a few answers of 429 are waited for as long as they ask, and no request is refused beside them', async () => {
    const what = { answer: { status: 429, headers: { 'Retry-After': '1' } } };
    const faults = { faults: [{ operation: 'credits' as const, every: 5, times: 4, what }] };
    const { tookMs, refused } = await ask({ faults }, requests, 1, createFastClock(20));
    expect(refused).toBe(4);
    expect(tookMs).toBeGreaterThan(4000);
  });

  test('a rate limit is used up, and no request is refused', async () => {
    // All at once but for the last ten, which come at five a second; the next minute is far off, however busy the machine.
    const hasty = createFastClock(2);
    const waits: number[] = [];
    const clock: Clock = {
      ...hasty,
      sleep: async (ms, signal) => {
        if (ms <= minuteMs) waits.push(ms);
        return hasty.sleep(ms, signal);
      },
    };
    const { refused } = await ask({ rate: 300, clock }, 310, 8, clock);
    expect(refused).toBe(0);
    // For none until the next minute.
    expect(Math.max(0, ...waits)).toBeLessThan(20_000);
  });
});
