import { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { Client } from '../../../src/client/client.js';
import type { Clock } from '../../../src/platform/waiting/clock.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { uuid } from '../test-client.js';

const minuteMs = 60_000;
const pollers = 10;
const pollIntervalMs = 1000;
const latencyMs = 40;

/** What a service that is away does with a request. */
const outages = {
  'refuses connections': (handler, controller) =>
    handler.onResponseError?.(controller, systemError('ECONNREFUSED')),
  'resets connections': (handler, controller) => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseError?.(controller, systemError('ECONNRESET'));
  },
  'answers 503': (handler, controller) => {
    handler.onRequestStart?.(controller, {});
    answer(handler, controller, 503, '{}');
  },
  'answers 429': (handler, controller) => {
    handler.onRequestStart?.(controller, {});
    answer(handler, controller, 429, '{}');
  },
  'answers with a page': (handler, controller) => {
    handler.onRequestStart?.(controller, {});
    answer(handler, controller, 200, '<html>');
  },
  'says nothing': (handler, controller) => handler.onRequestStart?.(controller, {}),
} as const satisfies Record<string, Serve>;

type Serve = (
  handler: Dispatcher.DispatchHandler,
  controller: Dispatcher.DispatchController,
) => void;

/** A service in simulated time, up or away; every request that reaches it is counted. */
class Service extends Dispatcher {
  readonly #clock: TestClock;
  readonly #isAway: (now: number) => boolean;
  readonly #away: Serve;
  readonly starts: number[] = [];

  constructor(clock: TestClock, isAway: (now: number) => boolean, away: Serve) {
    super();
    this.#clock = clock;
    this.#isAway = isAway;
    this.#away = away;
  }

  override dispatch(
    _options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    this.starts.push(this.#clock.now());
    const controller: Dispatcher.DispatchController = {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: null,
      rawTrailers: null,
      abort: (reason: Error) => handler.onResponseError?.(controller, reason),
      pause: () => undefined,
      resume: () => undefined,
    };
    const isAway = this.#isAway(this.#clock.now());
    void this.#clock.sleep(latencyMs).then(() => {
      if (isAway) {
        this.#away(handler, controller);
        return;
      }
      handler.onRequestStart?.(controller, {});
      answer(handler, controller, 200, '{"status":"verification_ongoing"}');
    });
    return true;
  }

  /** Requests between two moments. */
  within(from: number, to: number): number {
    return this.starts.filter((at) => at >= from && at < to).length;
  }
}

function answer(
  handler: Dispatcher.DispatchHandler,
  controller: Dispatcher.DispatchController,
  status: number,
  body: string,
): void {
  handler.onResponseStart?.(controller, status, { 'content-type': 'application/json' }, '');
  handler.onResponseData?.(controller, Buffer.from(body));
  handler.onResponseEnd?.(controller, {});
}

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('the retry budget of a client', () => {
  const downFrom = 2 * minuteMs;
  const downTo = 8 * minuteMs;

  for (const [what, away] of Object.entries(outages)) {
    it(`keeps requests within 1.1 times those of service, when the service ${what}`, async () => {
      const clock = new TestClock();
      // The service answers by the same clock, which must not be held until it has.
      const unheldClock: Clock = {
        now: () => clock.now(),
        wallNow: () => clock.wallNow(),
        sleep: async (ms, signal) => clock.sleep(ms, signal),
      };
      const isAway = (now: number): boolean => now >= downFrom && now < downTo;
      const service = new Service(clock, isAway, away);
      const client = new Client({
        baseUrl: 'https://service.test',
        apiKey: 'a-key',
        dispatcher: service,
        clock: unheldClock,
        random: () => 0.5,
        giveUpAfterMs: 60 * minuteMs,
      });
      // As a run polls its batches, and goes on when one reading fails.
      const poll = async (): Promise<void> => {
        while (clock.now() < downTo) {
          await client.batchStatus(uuid).catch(() => undefined);
          await clock.sleep(pollIntervalMs);
        }
      };
      await clock.runUntil(Promise.all(Array.from({ length: pollers }, poll)));
      const steady = service.within(minuteMs, downFrom);
      expect(steady).toBeGreaterThan(pollers * 30);
      for (let from = downFrom + minuteMs; from < downTo; from += minuteMs) {
        expect(service.within(from, from + minuteMs)).toBeLessThanOrEqual(steady * 1.1);
      }
      // Far below: a probe at a time, at growing intervals.
      const minutes = (downTo - downFrom) / minuteMs - 1;
      expect(service.within(downFrom + minuteMs, downTo) / minutes).toBeLessThan(steady / 20);
      await client.close();
    });
  }
});
