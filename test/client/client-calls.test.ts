import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { DeadlineError } from '../../src/platform/errors/errors.js';
import { ApiError } from '../../src/platform/errors/service-errors.js';
import { canaryKey, caught, createTestClient, eventually, uuid } from './test-client.js';
import { createFastClock, TestClock } from '../../src/testing/test-clock.js';
import { sendJson, startServer } from './test-server.js';

const unit = { type: 'email', email: 'ana.silva@mail.example' };

describe('a call with a limit of its own', () => {
  test('ends with the answer that asks for a longer wait', async () => {
    const server = await startServer((_, response) =>
      sendJson(response, 429, {}, { 'retry-after': '30', 'x-request-id': 'req-7' }),
    );
    const client = createTestClient(server.baseUrl, { clock: new TestClock() });
    const error = await caught(client.verifyUnit(unit, { timeoutMs: 5000 }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'too_many_requests',
      retryAfterMs: 30_000,
      requestId: 'req-7',
      sent: 'no',
    });
    // The pause is that of the whole client: the next call is not even sent, and says why.
    const next = await caught(client.credits({ timeoutMs: 5000 }));
    expect(next).toBeInstanceOf(DeadlineError);
    expect(next).toMatchObject({ code: 'deadline_exceeded', sent: 'no', cause: error });
    const { retryAfterMs } = next as DeadlineError;
    expect(retryAfterMs).toBeGreaterThan(5000);
    expect(Number.isInteger(retryAfterMs)).toBe(true);
    expect(server.seen).toHaveLength(1);
  });

  test('that is not answered in time says whether it may have been carried out', async () => {
    const server = await startServer(() => undefined);
    const clock = new TestClock();
    const client = createTestClient(server.baseUrl, { clock });
    const call = caught(client.verifyUnit(unit, { timeoutMs: 5000 }));
    await eventually(() => server.seen.length).toBe(1);
    await clock.advance(5000);
    const error = await call;
    expect(error).toMatchObject({ code: 'request_timeout', sent: 'unknown', retryable: false });
  });

  test('waits for its turn no longer than that', async () => {
    const server = await startServer(() => undefined);
    const clock = new TestClock();
    const client = createTestClient(server.baseUrl, { clock, maxConcurrentRequests: 1 });
    const first = caught(client.credits());
    const second = caught(client.credits({ timeoutMs: 1000 }));
    await clock.advance(1000);
    const error = await second;
    expect(error).toMatchObject({ code: 'deadline_exceeded', sent: 'no' });
    await client.close();
    await first;
  });

  test.each([
    ['the service', {}],
    ['the client', { requestsPerMinute: 10 }],
  ])('is not kept waiting for a longer spacing by the limit of %s', async (whose, options) => {
    const headers = { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '0' };
    const server = await startServer((_, response) =>
      sendJson(
        response,
        200,
        { email_credit: 1, phone_credit: 1 },
        whose === 'the service' ? headers : {},
      ),
    );
    const client = createTestClient(server.baseUrl, { ...options, clock: new TestClock() });
    await client.credits({ timeoutMs: 1000 });
    // The clock does not move: what waits at all waits for ever.
    const next = (await caught(client.credits({ timeoutMs: 1000 }))) as DeadlineError;
    expect(next).toMatchObject({ code: 'deadline_exceeded', sent: 'no' });
    expect(next.retryAfterMs).toBeGreaterThan(1000);
    expect(server.seen).toHaveLength(1);
  });

  test('says that it waits for the key', async () => {
    const apiKey = async (): Promise<string> => new Promise(() => {});
    const client = createTestClient('https://service.invalid', {
      apiKey,
      clock: createFastClock(),
    });
    const error = await caught(client.credits({ timeoutMs: 1000 }));
    expect(error).toMatchObject({
      code: 'deadline_exceeded',
      sent: 'no',
      message: expect.stringMatching(/\bapiKey\b/) as string,
    });
  });

  test('says how long the client pauses after a 429 that does not', async () => {
    const server = await startServer((_, response) => sendJson(response, 429, {}));
    const client = createTestClient(server.baseUrl, { clock: new TestClock(), random: () => 1 });
    const error = await caught(client.credits({ maxRetries: 0 }));
    expect(error).toMatchObject({ code: 'too_many_requests', retryAfterMs: 1000 });
  });

  test.each([0, 2])('is sent again %i times at most', async (maxRetries) => {
    const server = await startServer((_, response, count) =>
      sendJson(response, count % 2 ? 503 : 429, {}),
    );
    const client = createTestClient(server.baseUrl);
    const error = await caught(client.credits({ maxRetries }));
    expect(error).toBeInstanceOf(ApiError);
    expect(server.seen).toHaveLength(1 + maxRetries);
  });

  test('without retries waits for no pause, also of an earlier call', async () => {
    const server = await startServer((_, response) =>
      sendJson(response, 429, {}, { 'retry-after': '30' }),
    );
    const client = createTestClient(server.baseUrl, { clock: new TestClock() });
    const first = await caught(client.verifyUnit(unit, { maxRetries: 0 }));
    expect(first).toMatchObject({ code: 'too_many_requests', retryAfterMs: 30_000 });
    for (const timeoutMs of [undefined, 60_000]) {
      const next = await caught(client.verifyUnit(unit, { maxRetries: 0, timeoutMs }));
      expect(next).toMatchObject({ code: 'deadline_exceeded', sent: 'no', cause: first });
      expect((next as DeadlineError).retryAfterMs).toBeGreaterThanOrEqual(30_000);
    }
    expect(server.seen).toHaveLength(1);
  });

  test.each([
    ['timeoutMs', { timeoutMs: 0 }],
    ['maxRetries', { maxRetries: -1 }],
    ['timeout', { timeout: 5 }],
  ])('is refused for a wrong %s', async (name, options) => {
    const client = createTestClient('http://127.0.0.1:9');
    const error = await caught(client.credits(options as {}));
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(String(error)).toContain(name);
  });
});

describe('the body of a refusal', () => {
  test('is kept without what it says of people, and is not printed', async () => {
    const number = 491_701_234_567;
    const server = await startServer((_, response) =>
      sendJson(response, 422, {
        message: 'no',
        errors: [{ field: 'email', value: 'ana.silva@mail.example', line: 2, number }],
        'ben@mail.example': { given: `"${canaryKey}"`, name: 'Jo Doe' },
        ok: false,
        rest: null,
      }),
    );
    const client = createTestClient(server.baseUrl);
    const sent = { open: () => [Buffer.from('Jo Doe\n')] };
    const error = (await caught(client.verifyUnit(unit, { sent }))) as ApiError;
    expect(error.body).toEqual({
      message: 'no',
      errors: [{ field: 'email', value: '<address>', line: 2, number: '<number>' }],
      '<address>': { given: '"[key]"', name: '<cell>' },
      ok: false,
      rest: null,
    });
    const printed = inspect(error, { depth: Infinity, showHidden: true }) + JSON.stringify(error);
    expect(printed).not.toContain('rest');
  });

  test.each([
    ['text', '<h1>Ask ana@mail.example</h1>', '<h1>Ask <address></h1>'],
    ['nothing', '', undefined],
    ['too deep', `${'['.repeat(30)}${']'.repeat(30)}`, `${'['.repeat(30)}${']'.repeat(30)}`],
  ])('is its text where it is %s', async (_, sent, kept) => {
    const server = await startServer((_request, response) => response.writeHead(400).end(sent));
    const error = (await caught(createTestClient(server.baseUrl).credits())) as ApiError;
    expect(error.body).toBe(kept);
  });

  test('names the request only by a plain identifier', async () => {
    const ids = [canaryKey, 'ana@mail.example', 'a b', '7f-A:1.2_3'];
    const server = await startServer((_, response, count) =>
      sendJson(response, 400, {}, { 'x-request-id': ids[count - 1] ?? '' }),
    );
    const client = createTestClient(server.baseUrl);
    const seen: unknown[] = [];
    for (const _ of ids)
      seen.push(((await caught(client.batchStatus(uuid))) as ApiError).requestId);
    expect(seen).toEqual([undefined, undefined, undefined, '7f-A:1.2_3']);
  });

  test('names the request as the first header does that has an identifier', async () => {
    const server = await startServer((_, response) =>
      sendJson(response, 400, {}, { 'x-request-id': 'a b', 'x-amzn-requestid': 'r-1' }),
    );
    const error = await caught(createTestClient(server.baseUrl).credits());
    expect(error).toMatchObject({ requestId: 'r-1' });
  });
});

test('a unit with two addresses needs a type, or is not sent', async () => {
  const server = await startServer((_, response) => sendJson(response, 402, {}));
  const client = createTestClient(server.baseUrl);
  const both = { email: 'ana.silva@mail.example', phone: '+12025550143' };
  for (const unclear of [both, { ...both, type: null }]) {
    const error = await caught(client.verifyUnit(unclear));
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'invalid_option' });
    expect(String(error)).not.toMatch(/silva|555/);
  }
  expect(server.seen).toHaveLength(0);
  const refused = await caught(client.verifyUnit({ ...both, type: 'phone' }));
  expect(String(refused)).toContain('1 phone credit');
  expect(server.seen).toHaveLength(1);
});

test('a Date is sent as the time it means, and one that is none is refused', async () => {
  const server = await startServer((_, response) => sendJson(response, 200, []));
  const client = createTestClient(server.baseUrl);
  await client.listBatches({ from_date: new Date(0), to_date: '2026-11-21T00:00:00Z' });
  const { searchParams } = new URL(server.seen[0]?.url ?? '', server.baseUrl);
  expect(searchParams.get('from_date')).toBe('1970-01-01T00:00:00.000Z');
  expect(searchParams.get('to_date')).toBe('2026-11-21T00:00:00Z');
  const error = await caught(client.listBatches({ from_date: new Date(Number.NaN) }));
  expect(error).toMatchObject({ code: 'invalid_option' });
  expect(server.seen).toHaveLength(1);
});
