import { expect, it, vi } from 'vitest';
import { Client } from '../../src/client/client.js';
import { verifyRows } from '../../src/engine/streams/verify-rows.js';
import { createFastClock, createTestClock } from '../../src/testing/index.js';
import { caught } from '../client/test-client.js';
import { withService } from '../service/with-service.js';

it('a test clock wakes those who are due, in the order of their time, and moves only when told to', async () => {
  const clock = createTestClock(1000);
  const woken: string[] = [];
  const sleep = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now()}`);
  };
  const both = Promise.all([sleep('day', 86_400_000), sleep('hour', 3_600_000)]);
  await clock.advance(3_600_000);
  expect(woken).toEqual(['hour at 3600000']);
  expect(clock.sleeping).toBe(1);
  expect(clock.wallNow()).toBe(3_601_000);
  for (const none of [-1, NaN, '60000' as never]) {
    await expect(clock.advance(none)).rejects.toThrow(RangeError);
    expect(() => createFastClock(none)).toThrow(RangeError);
  }
  await clock.runUntil(both);
  expect(woken).toEqual(['hour at 3600000', 'day at 86400000']);
});

it('a test clock ends a sleep with the reason of its signal, and no work that waits for nothing', async () => {
  const clock = createTestClock();
  const abort = new AbortController();
  const sleeping = clock.sleep(1000, abort.signal);
  abort.abort('stop');
  await expect(sleeping).rejects.toBe('stop');
  expect(clock.sleeping).toBe(0);
  await expect(clock.runUntil(new Promise(() => undefined))).rejects.toThrow('nothing is left');
});

it('a test clock that nobody moves says so, once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const [moved, forgotten] = [createTestClock(), createTestClock()];
    const sleeps = [moved.sleep(60_000), forgotten.sleep(60_000), forgotten.sleep(60_000)];
    await moved.advance(1);
    vi.advanceTimersByTime(60_000);
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('nobody has moved it'), expect.anything()],
    ]);
    await Promise.all([moved.advance(60_000), forgotten.advance(60_000), ...sleeps]);
  } finally {
    vi.useRealTimers();
    vi.restoreAllMocks();
  }
});

it('a test clock stays where it is while an answer is awaited, and takes work over HTTP to its end', async () => {
  // However soon it is done: three looks are in vain, and waited after.
  const answer = { json: { status: 'parsing_content' } };
  const inVain = { operation: 'batchStatus', requests: [1, 2, 3], what: { answer } } as const;
  const { service } = await withService({ faults: { faults: [inVain] } });
  const { baseUrl, apiKey } = service;
  const clock = createTestClock();
  const outages: unknown[] = [];
  const client = new Client({
    baseUrl,
    apiKey,
    clock,
    // No answer comes within it: a clock that moved on would pass it each time.
    timeoutMs: 1,
    onOutage: (outage) => outages.push(outage),
  });
  const valid: unknown[] = [];
  const readAll = async (): Promise<void> => {
    const rows = [{ email: 'good@sluice.test' }, { email: 'bad@sluice.test' }];
    const options = { client, clock, email: ['email'], country: 'US' } as const;
    for await (const row of verifyRows(rows, options)) valid.push(row.email_valid);
  };
  await clock.runUntil(readAll());
  expect(valid).toEqual([true, false]);
  expect(outages).toEqual([]);
  expect(clock.now()).toBeGreaterThan(1000);
  await client.close();
});

it('a test clock moves on to the time-out of a request that the service leaves hanging', async () => {
  const faults = { faults: [{ operation: 'credits', what: { hang: true } } as const] };
  const { service } = await withService({ faults });
  const clock = createTestClock();
  const client = new Client({ ...service, clock, giveUpAfterMs: 0 });
  const error = await caught(clock.runUntil(client.credits()));
  expect(error).toMatchObject({ cause: { code: 'request_timeout' } });
  expect(clock.now()).toBeGreaterThanOrEqual(30_000);
  await client.close();
});

it('a test clock takes a source that pauses to the end of its longest wait', async () => {
  const { service } = await withService({ parseDelayMs: 5, verifyDelayMs: 5 });
  const { baseUrl, apiKey } = service;
  const clock = createTestClock();
  const client = new Client({ baseUrl, apiKey, clock });
  let goOn = (): void => undefined;
  const paused = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* source() {
    yield { email: 'good@sluice.test' };
    await paused;
  }
  const options = { client, clock, email: ['email'], country: 'US', maxWaitMs: 60_000 } as const;
  const rows = verifyRows(source(), options)[Symbol.asyncIterator]();
  const { value } = await clock.runUntil(rows.next());
  expect(value).toMatchObject({ email_valid: true });
  expect(clock.now()).toBeGreaterThanOrEqual(60_000);
  goOn();
  await rows.return?.();
  await client.close();
});

it('a fast clock takes a batch through its waits', async () => {
  const { service } = await withService({ parseDelayMs: 5, verifyDelayMs: 5 });
  const { baseUrl, apiKey } = service;
  const client = new Client({ baseUrl, apiKey, clock: createFastClock() });
  const lines = Buffer.from('good@sluice.test\n');
  const file = { sizeBytes: lines.length, open: () => [lines] };
  const done = await client.verifyFile(file, { type: 'email', target_country: 'US' });
  expect(done.status).toBe('verification_done');
  await client.close();
});
