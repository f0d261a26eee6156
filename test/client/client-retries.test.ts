import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createServer, type ServerResponse } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RequestReport } from '../../src/client/client-options.js';
import { DeadlineError } from '../../src/platform/errors/errors.js';
import {
  ApiError,
  ContractError,
  TransportError,
} from '../../src/platform/errors/service-errors.js';
import { freePort } from '../servers/free-port.js';
import { chargesOf } from '../cli/harness/charges.js';
import { withService } from '../service/with-service.js';
import {
  caught,
  createFile,
  createTestClient,
  eventually,
  uploadFields,
  uuid,
} from './test-client.js';
import { createFastClock, TestClock } from '../../src/testing/test-clock.js';
import { rawAnswer, sendJson, startRawServer, startServer } from './test-server.js';

const credits = { email_credit: 1, phone_credit: 2 };
const unit = { type: 'email', email: 'a@b.example' };

describe('a unit verification that may be charged, and whose answer is lost', () => {
  const faults = {
    'a reset': { cutAtByte: 0, by: 'reset' },
    'a 500': { answer: { status: 500 } },
    'an answer that is cut': { cutAtByte: 5, by: 'end' },
    'an answer that is not JSON': { answer: { status: 200, text: 'ok' } },
  } as const;
  test.each(Object.entries(faults))('is not asked for again after %s', async (_, what) => {
    const { service } = await withService({
      apiKey: 'a-key-of-this-test',
      faults: { faults: [{ operation: 'verifyUnit', requests: [1], what }] },
    });
    const client = createTestClient(service.baseUrl, { apiKey: 'a-key-of-this-test' });
    const request = { type: 'email', email: 'good@sluice.test' } as const;
    const error = await caught(client.verifyUnit(request));
    expect(error).toMatchObject({ operation: 'verifyUnit', sent: 'unknown', retryable: false });
    // An answer in place of the true one comes before anything is charged; no client can know it.
    expect(await chargesOf(service)).toHaveLength('answer' in what ? 0 : 1);
  });

  test.each([401, 402, 422, 429])('is surely refused by %i', async (status) => {
    const server = await startServer((_, response) => sendJson(response, status, {}));
    const client = createTestClient(server.baseUrl, { giveUpAfterMs: 1 });
    const error = (await caught(client.verifyUnit(unit))) as ApiError | DeadlineError;
    expect(error).toMatchObject({ sent: 'no', retryable: status === 429 });
  });
});

describe('an error answer', () => {
  const codes = {
    400: 'bad_request',
    402: 'unexpected_status',
    404: 'not_found',
    405: 'unexpected_status',
    409: 'unexpected_status',
    413: 'too_large',
    422: 'validation_failed',
  };
  for (const [status, code] of Object.entries(codes)) {
    test(`of ${status} is ${code}, thrown at once with the service's own words`, async () => {
      const server = await startServer((_, response) =>
        sendJson(response, Number(status), { message: 'No \u001b[31mway\u0007\r\nat all' }),
      );
      const error = await caught(createTestClient(server.baseUrl).batchStatus(uuid));
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({
        code,
        operation: 'batchStatus',
        status: Number(status),
        serviceMessage: 'No [31mway at all',
        retryable: false,
      });
      expect(String(error)).toContain(uuid);
      expect(server.seen).toHaveLength(1);
    });
  }

  test('of 404 asks about the base URL where nothing but the service can be missing', async () => {
    const server = await startServer((_, response) => sendJson(response, 404, {}));
    const client = createTestClient(`${server.baseUrl}/v1`);
    // What a base URL must not have at its end.
    expect(String(await caught(client.credits()))).toMatch(/\/v1$/);
    expect(String(await caught(client.batchStatus(uuid)))).not.toContain('/v1');
  });

  for (const status of [500, 502, 503, 504, 408, 425]) {
    test(`of ${status} to a read is asked again`, async () => {
      const server = await startServer((_, response, count) =>
        count < 4 ? sendJson(response, status, {}) : sendJson(response, 200, credits),
      );
      expect(await createTestClient(server.baseUrl).credits()).toEqual(credits);
      expect(server.seen).toHaveLength(4);
    });
  }

  test('of 500 to what may not be repeated is thrown at once', async () => {
    const server = await startServer((_, response) => sendJson(response, 500, {}));
    const client = createTestClient(server.baseUrl);
    const file = createFile(9);
    for (const call of [
      async () => client.uploadBatch({ ...uploadFields, file }),
      async () => client.launchBatch(uuid),
      async () => client.verifyUnit(unit),
    ]) {
      const error = await caught(call());
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ code: 'server_error', sent: 'unknown', retryable: false });
    }
    expect(server.seen).toHaveLength(3);
  });

  test('of 429 is waited out, whatever was asked, and the body is made anew', async () => {
    const server = await startServer((_, response, count) =>
      count % 2 === 1
        ? sendJson(response, 429, {}, { 'retry-after': '1' })
        : sendJson(response, 200, { status: 'ok' }),
    );
    const client = createTestClient(server.baseUrl);
    await client.launchBatch(uuid);
    await client.verifyUnit(unit);
    await client.uploadBatch({ ...uploadFields, file: createFile(100_000) });
    expect(server.seen).toHaveLength(6);
    expect(server.seen[5]?.body.length).toBe(server.seen[4]?.body.length);
    expect(server.seen[5]?.body.toString()).toContain('a'.repeat(100_000));
  });

  test('says how long to wait, clamped', async () => {
    const server = await startServer((_, response) =>
      sendJson(response, 500, {}, { 'retry-after': '1000000000000' }),
    );
    const error = await caught(createTestClient(server.baseUrl).launchBatch(uuid));
    expect(error).toMatchObject({ retryAfterMs: 300_000 });
  });

  test('keeps its status when its body breaks off', async () => {
    const head = rawAnswer('402 Payment Required', ['content-length: 100'], '{"mess');
    const server = await startRawServer((socket) => socket.once('data', () => socket.end(head)));
    const error = await caught(createTestClient(server.baseUrl).launchBatch(uuid));
    expect(error).toMatchObject({ code: 'payment_required' });
    expect(error).not.toHaveProperty('serviceMessage');
  });

  test('with endless words is read no further than needed', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(400, { 'content-type': 'text/plain' });
      const write = (): void => {
        while (!response.destroyed && response.write('no '.repeat(10_000)));
        response.once('drain', write);
      };
      write();
    });
    const error = (await caught(createTestClient(server.baseUrl).credits())) as ApiError;
    expect(error.serviceMessage).toHaveLength(500);
    await eventually(server.connections).toBe(0);
  });
});

describe('an odd answer that says yes', () => {
  const odd: Record<string, string | Buffer> = {
    'no JSON': '<html>Sign in</html>',
    empty: '',
    'cut JSON': '{"email_credit": 1, "phone_cred',
    'of another shape': '{"email_credit": "many", "phone_credit": 1}',
    'no UTF-8': Buffer.from([0x22, 0xff, 0x22]),
    'a million brackets': '['.repeat(1_000_000),
    'too long': `{"email_credit": 1, "phone_credit": 2, "pad": "${'x'.repeat(3_000_000)}"}`,
  };
  for (const [what, body] of Object.entries(odd)) {
    test(`(${what}) is asked for three times, then reported`, async () => {
      const server = await startServer((_, response) => response.end(body));
      const client = createTestClient(server.baseUrl, { maxAnswerBytes: 2_000_000 });
      const error = await caught(client.credits());
      expect(error).toBeInstanceOf(ContractError);
      expect(error).toMatchObject({ code: 'broken_contract', operation: 'credits' });
      expect(server.seen).toHaveLength(3);
    });
  }

  test('to a launch is thrown at once', async () => {
    const server = await startServer((_, response) => response.end('<html>'));
    const error = await caught(createTestClient(server.baseUrl).launchBatch(uuid));
    expect(error).toBeInstanceOf(ContractError);
    expect(error).toMatchObject({ retryable: false, status: 200, body: '<html>' });
    expect(server.seen).toHaveLength(1);
  });

  test('keeps a verdict that was paid for, without its address', async () => {
    const server = await startServer((_, response) =>
      sendJson(response, 200, { state: 'done', email: 'ana@example.org', valid: true }),
    );
    const client = createTestClient(server.baseUrl);
    const error = await caught(client.verifyUnit({ type: 'email', email: 'ana@example.org' }));
    expect(error).toMatchObject({
      code: 'broken_contract',
      body: { state: 'done', email: expect.not.stringContaining('ana'), valid: true },
    });
  });

  test('is forgotten once a right one comes', async () => {
    const server = await startServer((_, response, count) =>
      count < 3 ? response.end('') : sendJson(response, 200, credits),
    );
    expect(await createTestClient(server.baseUrl).credits()).toEqual(credits);
  });

  test.each<[string, string, (body: Buffer) => Buffer]>([
    ['is packed in a way that nobody knows', 'compress', (body) => body],
    ['is not packed with zstd though it says so', 'zstd', (body) => body],
    ['is not packed though it says so', 'gzip', (body) => body],
    ['is cut short where it is unpacked', 'gzip', (body) => gzipSync(body).subarray(0, -12)],
    ['unpacks to far too much', 'br', () => brotliCompressSync(Buffer.alloc(1_000_000))],
  ])('is one that %s', async (_, coding, pack) => {
    const body = pack(Buffer.from(JSON.stringify(credits)));
    const server = await startServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(body),
    );
    const client = createTestClient(server.baseUrl, { maxAnswerBytes: 1000 });
    expect(await caught(client.credits())).toBeInstanceOf(ContractError);
    const exported = client.exportBatch(uuid, { format: 'json' });
    expect(await caught(exported.then(async (answer) => buffer(answer.body)))).toBeInstanceOf(
      ContractError,
    );
  });

  test('is a part of an export', async () => {
    const server = await startServer((_, response) => sendJson(response, 206, {}));
    const exported = createTestClient(server.baseUrl).exportBatch(uuid, { format: 'xlsx' });
    expect(await caught(exported)).toBeInstanceOf(ContractError);
  });
});

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
])('an answer that is packed with %s is unpacked, and a refusal too', async (coding, pack) => {
  const long = Buffer.from(JSON.stringify(Array.from({ length: 9999 }, (_, index) => index)));
  const server = await startServer(({ headers, url }, response) => {
    expect(headers['accept-encoding']).toBe('gzip, br');
    const head = { 'content-encoding': coding };
    if (url.includes('/export')) response.writeHead(200, head).end(pack(long));
    else if (url.includes('/credits'))
      response.writeHead(200, head).end(pack(JSON.stringify(credits)));
    else response.writeHead(422, head).end(pack('{"message":"too old"}'));
  });
  const client = createTestClient(server.baseUrl, { maxAnswerBytes: 1000 });
  expect(await client.credits()).toEqual(credits);
  const { body } = await client.exportBatch(uuid, { format: 'json' });
  expect(await buffer(body)).toEqual(long);
  expect(await caught(client.launchBatch(uuid))).toMatchObject({ serviceMessage: 'too old' });
});

test('interim answers that were not asked for are passed over', async () => {
  const server = await startServer((_, response, count) => {
    if (count === 1) response.writeContinue();
    else response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    sendJson(response, 200, credits);
  });
  const client = createTestClient(server.baseUrl);
  expect(await client.credits()).toEqual(credits);
  expect(await client.credits()).toEqual(credits);
  expect(server.seen).toHaveLength(2);
});

test('a packed export that breaks off fails as one that is not packed', async () => {
  const packed = gzipSync(randomBytes(100_000));
  const server = await startServer((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length });
    response.write(packed.subarray(0, 50_000), () => response.destroy());
  });
  const { body } = await createTestClient(server.baseUrl).exportBatch(uuid, { format: 'json' });
  expect(await caught(buffer(body))).toMatchObject({ code: 'connection_lost' });
});

test('any status of success is one, when its body fits', async () => {
  const server = await startServer((request, response, count) => {
    if (request.method === 'DELETE') response.writeHead(count === 1 ? 204 : 200).end();
    else sendJson(response, 202, { status: 'ok' });
  });
  const client = createTestClient(server.baseUrl);
  expect(await client.deleteBatch(uuid)).toEqual({});
  expect(await client.deleteBatch(uuid)).toEqual({});
  expect(await client.launchBatch(uuid)).toEqual({ status: 'ok' });
});

test('what the format operation answers is passed on, JSON or not', async () => {
  const server = await startServer((_, response) => response.end('+12015550123\n'));
  const form = { type: 'phone', target_country: 'US', file: createFile(1) } as const;
  expect(await createTestClient(server.baseUrl).format(form)).toBe('+12015550123\n');
});

describe('a lost connection', () => {
  test('before the answer is repeated for a read and unknown for a launch', async () => {
    const server = await startRawServer((socket, count) =>
      socket.once('data', () => {
        if (count <= 3) socket.destroy();
        else socket.end(rawAnswer('200 OK', ['connection: close'], JSON.stringify(credits)));
      }),
    );
    const client = createTestClient(server.baseUrl);
    const error = await caught(client.launchBatch(uuid));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: 'connection_lost', sent: 'unknown', retryable: false });
    expect(await client.credits()).toEqual(credits);
  });

  test('in mid-answer is repeated for a read and unknown for a launch', async () => {
    const begun = rawAnswer('200 OK', ['transfer-encoding: chunked'], '8\r\n{"status\r\n');
    const server = await startRawServer((socket, count) =>
      socket.once('data', () => {
        if (count <= 2) socket.end(begun);
        else socket.end(rawAnswer('200 OK', ['connection: close'], JSON.stringify(credits)));
      }),
    );
    const client = createTestClient(server.baseUrl);
    const error = await caught(client.launchBatch(uuid));
    expect(error).toMatchObject({ code: 'connection_lost', sent: 'unknown' });
    expect(await client.credits()).toEqual(credits);
  });

  test('while an export is read breaks its stream, and nothing is repeated', async () => {
    const begun = rawAnswer('200 OK', ['transfer-encoding: chunked'], '8\r\n{"a@b.ex\r\n');
    let accepted = 0;
    const server = await startRawServer((socket) => {
      accepted += 1;
      socket.once('data', () => socket.end(begun));
    });
    const { body } = await createTestClient(server.baseUrl).exportBatch(uuid, { format: 'json' });
    const error = await caught(text(body));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: 'connection_lost', operation: 'exportBatch' });
    expect(accepted).toBe(1);
  });

  test('with fewer bytes than announced breaks an export', async () => {
    const cut = rawAnswer('200 OK', ['content-length: 100'], '{}');
    const server = await startRawServer((socket) => socket.once('data', () => socket.end(cut)));
    const { body } = await createTestClient(server.baseUrl).exportBatch(uuid, { format: 'json' });
    expect(await caught(text(body))).toMatchObject({ code: 'connection_lost' });
  });

  test('with an answer that is no HTTP is one, too', async () => {
    const server = await startRawServer((socket) =>
      socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.7\r\n')),
    );
    const error = await caught(createTestClient(server.baseUrl).launchBatch(uuid));
    expect(error).toMatchObject({ code: 'connection_lost', sent: 'unknown' });
  });
});

describe('a refused connection', () => {
  test('was surely not sent, so even a launch is repeated', async () => {
    const port = await freePort();
    const server = createServer((_, response) => sendJson(response, 200, { status: 'ok' }));
    const reports: RequestReport[] = [];
    const client = createTestClient(`http://127.0.0.1:${port}`, {
      onRequest: (report) => {
        reports.push(report);
        if (report.attempt === 3) server.listen(port, '127.0.0.1');
      },
    });
    onTestFinished(() => void server.close());
    expect(await client.launchBatch(uuid)).toEqual({ status: 'ok' });
    expect(reports.slice(0, 3).map(({ code, status }) => [code, status])).toEqual(
      Array.from({ length: 3 }, () => ['connection_failed', undefined]),
    );
  });

  test('has not seen a call that was not sent', async () => {
    const clock = new TestClock();
    const server = await startServer((_, response) => sendJson(response, 503, {}));
    const client = createTestClient(server.baseUrl, { giveUpAfterMs: 1000, clock });
    const unit = { email: 'a@b.example' };
    expect(await caught(client.verifyUnit(unit))).toMatchObject({ status: 503, sent: 'unknown' });
    await clock.advance(1000);
    const error = await caught(client.verifyUnit(unit));
    expect(error).toMatchObject({ code: 'service_unavailable', sent: 'no', retryable: true });
    expect(server.seen).toHaveLength(1);
  });

  test('is given up at once by a client that does not wait', async () => {
    const client = createTestClient('http://127.0.0.1:1', { giveUpAfterMs: 0 });
    const error = await caught(client.credits());
    expect(error).toBeInstanceOf(DeadlineError);
    expect(error).toMatchObject({ code: 'service_unavailable' });
    expect((error as DeadlineError).cause).toBeInstanceOf(TransportError);
    expect((error as DeadlineError).cause).toMatchObject({ code: 'connection_failed', sent: 'no' });
  });
});

describe('reports of requests', () => {
  test('tell the operation, the status and the attempt, and nothing else', async () => {
    const server = await startServer((_, response, count) =>
      count === 1 ? sendJson(response, 503, {}) : sendJson(response, 200, credits),
    );
    const reports: RequestReport[] = [];
    const onRequest = (report: RequestReport): void => void reports.push(report);
    await createTestClient(server.baseUrl, { onRequest }).credits();
    const ms = expect.any(Number) as number;
    const date = expect.stringMatching(/ GMT$/) as string;
    expect(reports).toEqual([
      { operation: 'credits', status: 503, code: 'server_error', attempt: 1, ms, date },
      { operation: 'credits', status: 200, code: undefined, attempt: 2, ms, date },
    ]);
  });

  test('do no harm when their receiver throws', async () => {
    const server = await startServer((_, response) => sendJson(response, 200, { status: 'ok' }));
    const onRequest = (): void => {
      throw new Error('observer');
    };
    const client = createTestClient(server.baseUrl, { onRequest });
    expect(await client.launchBatch(uuid)).toEqual({ status: 'ok' });
  });
});

describe('a refused key', () => {
  test('ends the call that was refused, once, and no other', async () => {
    const server = await startServer((_, response, count) => {
      if (count === 2) sendJson(response, 401, { message: 'Unauthorized' });
      else sendJson(response, 200, credits);
    });
    const client = createTestClient(server.baseUrl, { maxConcurrentRequests: 1 });
    const calls = [client.credits(), client.credits(), client.credits()];
    const [first, second, third] = await Promise.allSettled(calls);
    expect([first, third]).toMatchObject([{ value: credits }, { value: credits }]);
    expect(second).toMatchObject({
      reason: {
        code: 'unauthorized',
        retryable: false,
        // What the service says is said once.
        message: expect.stringMatching(/^(?!.*Unauthorized.*Unauthorized).*\b401 Unauthorized\b/),
        serviceMessage: 'Unauthorized',
      },
    });
    expect(server.seen).toHaveLength(3);
  });

  test('is asked for again by all that it was refused to, once for each of them', async () => {
    const accepted = new Set(['first']);
    const server = await startServer(({ headers }, response) => {
      if (accepted.has(String(headers['x-api-key']))) sendJson(response, 200, { status: 'ok' });
      else sendJson(response, 401, { message: `no ${String(headers['x-api-key'])}` });
    });
    const given = ['first', 'second', 'third'];
    let asked = 0;
    const apiKey = async (): Promise<string> => given[asked++] ?? 'third';
    const client = createTestClient(server.baseUrl, { apiKey });
    await client.launchBatch(uuid);
    expect(asked).toBe(1);
    accepted.clear();
    accepted.add('second');
    await Promise.all([client.launchBatch(uuid), client.prepareBatch(uuid)]);
    expect(asked).toBe(2);
    accepted.clear();
    // The key that is given now is refused, too: the call ends, and prints neither of them.
    const error = await caught(client.launchBatch(uuid));
    expect(error).toMatchObject({ code: 'unauthorized', serviceMessage: 'no [key]' });
    expect(server.seen).toHaveLength(7);
    // A function that has nothing else to give is not asked for ever.
    await caught(client.launchBatch(uuid));
    expect([asked, server.seen.length]).toEqual([4, 8]);
  });

  test('that cannot be asked for is an error of the call, before anything is sent', async () => {
    const server = await startServer((_, response) => sendJson(response, 200, credits));
    const client = createTestClient(server.baseUrl, {
      apiKey: () => {
        throw new Error('no vault');
      },
    });
    expect(await caught(client.credits())).toMatchObject({ code: 'invalid_option' });
    expect(server.seen).toHaveLength(0);
  });
});

describe('a shared pause', () => {
  for (const [form, headers] of [
    ['seconds', () => ({ 'retry-after': '1' })],
    ['a date', () => ({ 'retry-after': new Date(Date.now() + 2000).toUTCString() })],
  ] as const) {
    test(`asked for in ${form} holds back every request`, async () => {
      const clock = createFastClock(20);
      let refusedAt = 0;
      let early = 0;
      let refused: ServerResponse[] = [];
      const server = await startServer((_, response, count) => {
        if (count > 4) {
          if (clock.now() < refusedAt + 1000) early += 1;
          sendJson(response, 200, credits);
          return;
        }
        // All that may be under way are, and are refused together: what comes in the window is wrong.
        refused.push(response);
        if (count < 4) return;
        refusedAt = clock.now();
        for (const each of refused) sendJson(each, 429, {}, headers());
        refused = [];
      });
      const client = createTestClient(server.baseUrl, {
        clock,
        maxConcurrentRequests: 4,
        random: () => 0,
      });
      await Promise.all(Array.from({ length: 10 }, async () => client.credits()));
      expect(early).toBe(0);
      expect(server.seen).toHaveLength(14);
    });
  }
});

test.each([
  ['Payment Required', ''],
  ['no credits left', ': no credits left'],
])(
  'a unit verification that is not paid says which credit it needs (%s)',
  async (message, words) => {
    const server = await startServer((_, response) => sendJson(response, 402, { message }));
    const client = createTestClient(server.baseUrl);
    const error = await caught(client.verifyUnit({ type: 'phone', phone: '+12025550123' }));
    expect(error).toMatchObject({
      code: 'payment_required',
      needs: { type: 'phone', credits: 1 },
      message: expect.stringContaining(`402 Payment Required${words}`) as string,
    });
  },
);
