import { RequestScheduler, type Outcome } from '../../../src/client/rate/request-scheduler.js';
import { TestClock } from '../../../src/testing/test-clock.js';

/** How a service counts what it lets through. */
export const limitKinds = [
  'fixed window',
  'sliding window',
  'token bucket',
  'small bucket',
] as const;
type LimitKind = (typeof limitKinds)[number];

/** Answers a request that reaches it at a moment, in milliseconds. */
type Service = (atMs: number) => Outcome;

interface Load {
  readonly waiting: number;
  readonly requests?: number;
  readonly untilMs?: number;
  /** Lets processes begin, each with a scheduler of its own. @default one */
  begin?(clock: TestClock, start: () => RequestScheduler): Promise<readonly RequestScheduler[]>;
}

const minuteMs = 60_000;
const latencyMs = 50;

/**
 * Requests to a service in simulated time, so many waiting for their turn at any moment, until there are no
 * more of them or until a moment.
 *
 * @returns when the last one was answered
 */
export async function sendRequests(service: Service, load: Load): Promise<number> {
  const clock = new TestClock();
  const { waiting, requests = Infinity, untilMs = Infinity } = load;
  let seed = 7;
  const random = (): number => (seed = (seed * 48_271) % 0x7fffffff) / 0x7fffffff;
  const start = (): RequestScheduler =>
    new RequestScheduler({
      origin: 'https://verify.example.com',
      clock,
      random,
      maxConcurrentRequests: 16,
      giveUpAfterMs: 600_000,
    });
  const schedulers = (await load.begin?.(clock, start)) ?? [start()];
  let left = requests;
  const send = async (scheduler: RequestScheduler): Promise<void> => {
    while (left > 0 && clock.now() < untilMs) {
      left -= 1;
      const since = clock.now();
      for (let isTaken = false; !isTaken;) {
        const turn = { priority: 1, keyed: true, safe: true, attempt: 1, since, notBefore: since };
        const permit = await scheduler.acquire(turn);
        await clock.sleep(latencyMs / 2);
        const outcome = service(clock.now());
        await clock.sleep(latencyMs / 2);
        permit.settle(outcome);
        isTaken = outcome.kind === 'answered';
      }
    }
  };
  const all = schedulers.flatMap((scheduler) =>
    Array.from({ length: waiting / schedulers.length }, async () => send(scheduler)),
  );
  await clock.runUntil(Promise.all(all));
  return clock.now();
}

/** Takes every request but a few, as `isRefused` says by its number, which are asked to wait. */
export function moodyService(
  isRefused: (count: number) => boolean,
  askedMs: number,
  times = Infinity,
): { readonly answer: Service; asked: number } {
  let count = 0;
  const service = {
    asked: 0,
    answer: (): Outcome => {
      count += 1;
      if (service.asked >= times * askedMs || !isRefused(count)) return { kind: 'answered' };
      service.asked += askedMs;
      return { kind: 'throttled', error: new Error('429'), retryAfterMs: askedMs };
    },
  };
  return service;
}

/** Takes so many requests a minute, and asks in whole seconds to wait for the next. */
export function limitedService(
  kind: LimitKind,
  perMinute: () => number,
): { readonly answer: Service; taken: number; refused: number } {
  const waitAt = counters[kind](perMinute);
  const service = {
    taken: 0,
    refused: 0,
    answer: (atMs: number): Outcome => {
      const waitMs = waitAt(atMs);
      if (waitMs <= 0) {
        service.taken += 1;
        return { kind: 'answered' };
      }
      service.refused += 1;
      const retryAfterMs = Math.ceil(waitMs / 1000) * 1000;
      return { kind: 'throttled', error: new Error('429'), retryAfterMs };
    },
  };
  return service;
}

/**
 * What a steady limit lets through of what waits for it.
 *
 * @returns shares: of all that the limit allows, and of all requests those that were refused
 */
export async function underLimit(
  kind: LimitKind,
  perMinute: number,
  minutes: number,
  begin?: Load['begin'],
): Promise<{ readonly taken: number; readonly refused: number }> {
  const service = limitedService(kind, () => perMinute);
  const endedMs = await sendRequests(service.answer, {
    waiting: 32,
    untilMs: minutes * minuteMs,
    ...(begin && { begin }),
  });
  const atOnce = kind.endsWith('window') ? 0 : bucketSize(kind, perMinute);
  return {
    taken: service.taken / (atOnce + (perMinute * endedMs) / minuteMs),
    refused: service.refused / (service.taken + service.refused),
  };
}

/** Counts a request and says how long it would have to wait: 0 when it is taken. */
type Counter = (atMs: number) => number;

const counters: Readonly<Record<LimitKind, (perMinute: () => number) => Counter>> = {
  'fixed window': (perMinute) => {
    let window = -1;
    let used = 0;
    return (atMs) => {
      const at = Math.floor(atMs / minuteMs);
      if (at > window) [window, used] = [at, 0];
      if (used >= perMinute()) return (window + 1) * minuteMs - atMs;
      used += 1;
      return 0;
    };
  },
  'sliding window': (perMinute) => {
    const taken: number[] = [];
    return (atMs) => {
      while ((taken[0] ?? Infinity) <= atMs - minuteMs) taken.shift();
      if (taken.length >= perMinute()) return (taken[0] ?? atMs) + minuteMs - atMs;
      taken.push(atMs);
      return 0;
    };
  },
  'token bucket': (perMinute) => createBucket('token bucket', perMinute),
  'small bucket': (perMinute) => createBucket('small bucket', perMinute),
};

/** What comes in a minute or a second, one at least. */
function bucketSize(kind: LimitKind, perMinute: number): number {
  return Math.max(1, kind === 'token bucket' ? perMinute : perMinute / 60);
}

function createBucket(kind: LimitKind, perMinute: () => number): Counter {
  let tokens: number | undefined;
  let countedMs = 0;
  return (atMs) => {
    const most = bucketSize(kind, perMinute());
    tokens = Math.min(most, (tokens ?? most) + ((atMs - countedMs) * perMinute()) / minuteMs);
    countedMs = atMs;
    if (tokens < 1 - 1e-9) return ((1 - tokens) / perMinute()) * minuteMs;
    tokens -= 1;
    return 0;
  };
}
