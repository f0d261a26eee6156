import { expect, it, onTestFinished } from 'vitest';
import { Client } from '../../../src/client/client.js';
import { describeOutage, type ServiceOutage } from '../../../src/client/rate/outage.js';
import { RequestScheduler, type Permit } from '../../../src/client/rate/request-scheduler.js';
import { TransportError } from '../../../src/platform/errors/service-errors.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { caught } from '../test-client.js';

function watched(giveUpAfterMs = 600_000) {
  const clock = new TestClock();
  const reported: ServiceOutage[] = [];
  const scheduler = new RequestScheduler({
    clock,
    origin: 'https://verify.example.com',
    random: () => 0.5,
    maxConcurrentRequests: 4,
    giveUpAfterMs,
    onOutage: (trouble) => reported.push(trouble),
  });
  const acquire = async (notBefore = clock.now()): Promise<Permit> =>
    scheduler.acquire({ priority: 1, safe: true, attempt: 1, since: clock.now(), notBefore });
  return { clock, reported, scheduler, acquire };
}

function notReached(code: string): TransportError {
  return new TransportError(`credits: ${code}`, {
    code: 'connection_failed',
    operation: 'credits',
    sent: 'no',
    cause: Object.assign(new Error(code), { code }),
  });
}

it('tells of a silent service within five seconds, each minute, and when it answers', async () => {
  const { clock, reported, acquire } = watched();
  const permit = await acquire();
  await clock.advance(5000);
  expect(reported).toEqual([
    { state: 'waiting', error: undefined, forMs: 4000, leftMs: undefined },
  ]);
  await clock.advance(120_000);
  expect(reported.map(({ forMs }) => forMs)).toEqual([4000, 64_000, 124_000]);
  permit.settle({ kind: 'answered' });
  expect(reported.at(-1)).toEqual({ state: 'over', forMs: 125_000 });
  await clock.advance(600_000);
  expect(reported).toHaveLength(4);
  expect(clock.sleeping).toBe(0);
});

it('tells how long a service lets nothing through by its headers', async () => {
  const { clock, reported, acquire } = watched();
  const limits = { limit: 100, remaining: 0, resetMs: 60_000 };
  (await acquire()).settle({ kind: 'answered', limits });
  const waiting = acquire();
  await clock.advance(5000);
  expect(reported).toEqual([
    { state: 'waiting', error: undefined, forMs: 4000, leftMs: undefined, pausedMs: 56_000 },
  ]);
  const baseUrl = 'https://verify.example.com';
  expect(reported.map((outage) => describeOutage({ baseUrl }, outage).line)).toEqual([
    expect.stringMatching(/^verify\.example\.com .*\b56 s\b/),
  ]);
  await clock.advance(55_000);
  (await waiting).settle({ kind: 'answered' });
  expect(reported.at(-1)).toEqual({ state: 'over', forMs: 60_000 });
});

it('tells how long requests are spaced where few remain, and never of silence when nothing was asked', async () => {
  const { clock, reported, acquire } = watched();
  const limits = { limit: 30, remaining: 1, resetMs: undefined };
  (await acquire()).settle({ kind: 'answered', limits });
  const spaced = acquire();
  await clock.advance(5000);
  expect(reported).toMatchObject([{ state: 'waiting', error: undefined, pausedMs: 26_000 }]);
  await clock.advance(25_000);
  (await spaced).settle({
    kind: 'answered',
    limits: { limit: 4, remaining: 3, resetMs: undefined },
  });
  expect(reported.splice(0)).toMatchObject([{ state: 'waiting' }, { state: 'over' }]);
  (await acquire()).settle({
    kind: 'answered',
    limits: { limit: undefined, remaining: 19, resetMs: 76_000 },
  });
  const soon = acquire();
  await clock.advance(3900);
  const permit = await soon;
  await clock.advance(3000);
  expect(reported).toEqual([]);
  permit.settle({ kind: 'answered' });
});

it('tells of failures with the time that is left, over all attempts of a request', async () => {
  const { clock, reported, acquire } = watched(60_000);
  const error = notReached('ECONNREFUSED');
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const permit = acquire(clock.now() + 1000);
    await clock.advance(1000);
    (await permit).settle({ kind: 'failed', error });
  }
  const waiting = acquire(clock.now() + 5000);
  await clock.advance(1000);
  expect(reported).toEqual([{ state: 'waiting', error, forMs: 4000, leftMs: 57_000 }]);
  const baseUrl = 'https://verify.example.com';
  const [line] = reported.map((trouble) => describeOutage({ baseUrl }, trouble).line);
  expect(line).toMatch(/\b57 s$/);
  await clock.advance(4000);
  (await waiting).settle({ kind: 'answered' });
  expect(reported.at(-1)).toMatchObject({ state: 'over' });
});

it('tells of the pause that a service asks for', async () => {
  const { clock, reported, acquire } = watched();
  const error = new Error('429');
  (await acquire()).settle({ kind: 'throttled', error, retryAfterMs: 30_000 });
  const waiting = acquire();
  await clock.advance(5000);
  expect(reported).toMatchObject([{ state: 'waiting', error }]);
  await clock.advance(30_000);
  (await waiting).settle({ kind: 'answered' });
  expect(reported.at(-1)).toMatchObject({ state: 'over' });
});

it('tells once of a chain of pauses, each of which is over before it is told of', async () => {
  const { clock, reported, acquire } = watched();
  const error = new Error('429');
  for (let count = 0; count < 6; count += 1) {
    for (const kind of ['throttled', 'answered'] as const) {
      const turn = acquire();
      await clock.advance(1900);
      (await turn).settle({ kind, error, retryAfterMs: 1500 });
    }
  }
  expect(reported.map(({ state }) => state)).toEqual(['waiting', 'over']);
  expect(reported).toMatchObject([{ error }, {}]);
});

it('says nothing of a service that answers, or takes an upload piece by piece', async () => {
  const { clock, reported, scheduler, acquire } = watched();
  const upload = await acquire();
  for (let second = 0; second < 60; second += 3) {
    await clock.advance(3000);
    scheduler.moved();
  }
  upload.settle({ kind: 'answered' });
  for (let count = 0; count < 20; count += 1) {
    const permit = await acquire();
    await clock.advance(3000);
    permit.settle({ kind: 'answered' });
    await clock.advance(60_000);
  }
  expect(reported).toEqual([]);
  expect(clock.sleeping).toBe(0);
});

it.each([
  ['ENOTFOUND', 8000],
  ['EAI_AGAIN', 8000],
  ['ECONNREFUSED', 600_000],
])('gives up a service that never answered after %s when it is hopeless', async (code, afterMs) => {
  const { clock, acquire } = watched();
  (await acquire()).settle({ kind: 'failed', error: notReached(code) });
  let givenUpAt: number | undefined;
  const waiting = caught(acquire(Infinity)).then((error) => {
    givenUpAt = clock.now();
    return error;
  });
  await clock.advance(700_000);
  expect(await waiting).toMatchObject({ code: 'service_unavailable' });
  expect(givenUpAt).toBe(afterMs);
});

it('has patience with a name that is not found any more', async () => {
  const { clock, acquire } = watched();
  (await acquire()).settle({ kind: 'answered' });
  (await acquire()).settle({ kind: 'failed', error: notReached('ENOTFOUND') });
  let isGivenUp = false;
  const waiting = caught(acquire(Infinity)).then(() => (isGivenUp = true));
  await clock.advance(599_000);
  expect(isGivenUp).toBe(false);
  await clock.advance(1000);
  await waiting;
});

it('is a warning of the process, once, where a program does not ask', async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => void warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  // Nobody listens on port 9 of this machine.
  const options = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key', giveUpAfterMs: 300_000 };
  const asked: ServiceOutage[] = [];
  for (const onOutage of [undefined, (trouble: ServiceOutage) => asked.push(trouble)]) {
    const clock = new TestClock();
    const client = new Client({ ...options, clock, onOutage });
    const failed = caught(client.credits());
    let isOver = false;
    void failed.then(() => {
      isOver = true;
    });
    while (!isOver) await clock.advance(5000);
    expect(await failed).toMatchObject({ code: 'service_unavailable' });
    await client.close();
  }
  expect(asked.length).toBeGreaterThan(1);
  expect(warnings).toMatchObject([
    {
      name: 'SluiceWarning',
      code: 'SLUICE_SERVICE_WAITING',
      message: expect.stringMatching(/127\.0\.0\.1:9\b.*\d+ \w+/) as string,
    },
  ]);
});
