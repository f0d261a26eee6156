import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { Agent } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Client } from '../../src/client/client.js';
import type { RequestReport } from '../../src/client/client-options.js';
import {
  canaryKey,
  caught,
  createFile,
  createTestClient,
  eventually,
  uploadFields,
  uuid,
} from './test-client.js';
import { rawAnswer, sendJson, startRawServer, startServer } from './test-server.js';

/** Everything that a thing can print. */
function printed(thing: unknown): string {
  const options = { depth: Infinity, showHidden: true, maxStringLength: Infinity } as const;
  const parts = [inspect(thing, options), inspect(thing, { ...options, customInspect: false })];
  parts.push(String(thing), JSON.stringify(thing) ?? '');
  if (thing instanceof Error) parts.push(thing.stack ?? '', printed(thing.cause ?? ''));
  return parts.join('\n');
}

describe('the key', () => {
  test('is in nothing a client can print, before and after it is used', async () => {
    const server = await startServer((_, response) =>
      sendJson(response, 200, { email_credit: 1, phone_credit: 1 }),
    );
    const client = createTestClient(server.baseUrl);
    expect(printed(client)).not.toContain(canaryKey);
    await client.credits();
    const waiting = client.credits();
    expect(printed(client)).not.toContain(canaryKey);
    expect(printed(waiting)).not.toContain(canaryKey);
    await waiting;
    expect(server.seen[0]?.headers['x-api-key']).toBe(canaryKey);
  });

  /** What a service, or the wire, can do to make an error. */
  const troubles: Record<string, (key: string) => string | Buffer> = {
    'an error that repeats it': (key) =>
      rawAnswer('401 Unauthorized', [], `{"message":"bad ${key}"}`),
    'an error that is cut where it is repeated': (key) =>
      rawAnswer('400 Bad Request', [], `{"message":"${'x'.repeat(490)}${key}"}`),
    'an error whose text repeats it': (key) =>
      rawAnswer('402 Payment Required', [], key.repeat(100)),
    'a validation error about it': (key) =>
      rawAnswer(
        '422 Unprocessable',
        [],
        `{"detail":[{"loc":["${key}"],"msg":"${key}","input":"${key}"}]}`,
      ),
    'an odd answer with it in a name': (key) =>
      rawAnswer('200 OK', [], `{"status":{"${key}":"${key}"}}`),
    'no JSON but it': (key) => rawAnswer('200 OK', [], key),
    'no HTTP but it': (key) => `${key} ${key}\r\n\r\n`,
    'a redirect to it': (key) => rawAnswer('302 Found', [`location: https://evil.example/${key}`]),
    'a broken header with it': (key) => `HTTP/1.1 200 OK\r\n${key} ${key}\r\n\r\n`,
    'a compressed answer named after it': (key) =>
      rawAnswer('200 OK', [`content-encoding: ${key}`], key),
    'nothing at all': () => '',
  };
  for (const [what, answer] of Object.entries(troubles)) {
    test(`is in no error after ${what}`, async () => {
      const server = await startRawServer((socket) =>
        socket.on('data', () => socket.end(answer(canaryKey))),
      );
      const reports: RequestReport[] = [];
      const client = createTestClient(server.baseUrl, {
        giveUpAfterMs: 1000,
        onRequest: (report) => reports.push(report),
      });
      for (const call of [
        async () => client.launchBatch(uuid),
        async () => client.batchStatus(uuid),
        async () => client.uploadBatch({ ...uploadFields, file: createFile(10) }),
        async () => text((await client.exportBatch(uuid, { format: 'xlsx' })).body),
      ]) {
        const error = await caught(call()).catch((nothing: unknown) => nothing);
        expect(printed(error)).not.toContain(canaryKey);
        expect(printed(error)).not.toContain(canaryKey.slice(0, 12));
      }
      expect(printed(reports)).not.toContain(canaryKey);
      expect(printed(client)).not.toContain(canaryKey);
    });
  }

  test('is in no error when the connection is refused', async () => {
    const client = createTestClient('http://127.0.0.1:1', { giveUpAfterMs: 0 });
    expect(printed(await caught(client.credits()))).not.toContain(canaryKey);
  });

  test('is in no error when a given dispatcher misbehaves', async () => {
    const dispatcher = new Agent();
    await dispatcher.close();
    const client = createTestClient('http://127.0.0.1:1', { dispatcher });
    const error = await caught(client.credits());
    expect(error).toMatchObject({ code: 'connection_failed', sent: 'no', retryable: false });
    expect(printed(error)).not.toContain(canaryKey);
  });

  test('is in no error when it is malformed', () => {
    for (const apiKey of [`${canaryKey}\r\nx: y`, `${canaryKey}\u0100`, `\u0000${canaryKey}`]) {
      let error: unknown;
      try {
        error = new Client({ baseUrl: 'https://service.example', apiKey });
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toMatchObject({ code: 'invalid_option' });
      expect(printed(error)).not.toContain(canaryKey);
    }
  });
});

describe('a redirect', () => {
  for (const status of [301, 302, 303, 307, 308, 300, 304]) {
    test(`of ${status} is an error, and nobody else is asked`, async () => {
      const canary = await startServer((_, response) => sendJson(response, 200, { status: 'ok' }));
      const server = await startServer((_, response) =>
        response.writeHead(status, { location: `${canary.baseUrl}/v1/batch/${uuid}` }).end(),
      );
      const client = createTestClient(server.baseUrl);
      for (const call of [
        async () => client.launchBatch(uuid),
        async () => client.batchStatus(uuid),
        async () => client.exportBatch(uuid, { format: 'json' }),
      ]) {
        expect(await caught(call())).toMatchObject({
          code: 'redirected',
          status,
          retryable: false,
        });
      }
      expect(canary.seen).toHaveLength(0);
      expect(server.seen).toHaveLength(3);
    });
  }

  test('after good answers is a passing trouble of reads, and is not followed', async () => {
    const canary = await startServer((_, response) => sendJson(response, 200, {}));
    let answers = 0;
    const server = await startServer((_, response) => {
      answers += 1;
      if (answers === 2) response.writeHead(304).end();
      else if (answers > 2 && answers < 5) {
        response.writeHead(302, { location: canary.baseUrl }).end();
      } else sendJson(response, 200, { email_credit: 1, phone_credit: 1, status: 'odd' });
    });
    const client = createTestClient(server.baseUrl);
    await client.credits();
    expect(await client.batchStatus(uuid)).toMatchObject({ status: 'odd' });
    expect(canary.seen).toHaveLength(0);
    expect(server.seen).toHaveLength(5);
    answers = 1;
    expect(await caught(client.launchBatch(uuid))).toMatchObject({ code: 'redirected' });
    expect(server.seen).toHaveLength(6);
  });
});

describe('an abort', () => {
  const reason = { my: 'reason' };

  test('passes its reason through untouched, wherever the call stands', async () => {
    const server = await startServer(() => undefined);
    const client = createTestClient(server.baseUrl, { maxConcurrentRequests: 1 });
    const before = AbortSignal.abort(reason);
    expect(await caught(client.credits({ signal: before }))).toBe(reason);
    expect(server.seen).toHaveLength(0);

    const running = new AbortController();
    const waiting = new AbortController();
    const runs = caught(client.credits({ signal: running.signal }));
    const waits = caught(client.launchBatch(uuid, { signal: waiting.signal }));
    await eventually(() => server.seen.length).toBe(1);
    waiting.abort(reason);
    expect(await waits).toBe(reason);
    running.abort(reason);
    expect(await runs).toBe(reason);
    expect(server.seen).toHaveLength(1);
    await eventually(server.connections).toBe(0);
  });

  test('leaves what was sent the time that it is given to be answered', async () => {
    let answer = (): void => undefined;
    const server = await startServer((_, response) => {
      answer = () => sendJson(response, 200, { status: 'ok' });
    });
    const client = createTestClient(server.baseUrl, { maxConcurrentRequests: 1 });
    const stop = new AbortController();
    const received: string[][] = [[], []];
    const [sent, waits] = received.map(async (steps) =>
      client.launchBatch(uuid, {
        signal: stop.signal,
        graceMs: 60_000,
        onSent: (step) => steps.push(step),
      }),
    );
    await eventually(() => server.seen.length).toBe(1);
    stop.abort(reason);
    await expect(waits).rejects.toBe(reason);
    answer();
    expect(await sent).toMatchObject({ status: 'ok' });
    expect(received).toEqual([['no', 'unknown'], ['no']]);

    const again = new AbortController();
    const silent = caught(client.launchBatch(uuid, { signal: again.signal, graceMs: 1 }));
    await eventually(() => server.seen.length).toBe(2);
    again.abort(reason);
    expect(await silent).toBe(reason);
  });

  test.each([
    [401, 'unknown'],
    [402, 'unknown'],
    [429, 'no'],
  ])('leaves a launch that was answered with %i meanwhile: %s', async (status, end) => {
    let answer = (): void => undefined;
    const server = await startServer((_, response) => {
      answer = () => sendJson(response, status, {});
    });
    const client = createTestClient(server.baseUrl);
    const stop = new AbortController();
    let sent = '';
    const onSent = (step: string): void => void (sent = step);
    const call = { signal: stop.signal, graceMs: 60_000, onSent };
    const ended = caught(client.launchBatch(uuid, call));
    await eventually(() => server.seen.length).toBe(1);
    stop.abort(reason);
    answer();
    expect(await ended).toBe(reason);
    expect(sent).toBe(end);
  });

  test('ends the wait between two attempts', async () => {
    const server = await startServer((_, response) => sendJson(response, 503, {}));
    const stop = new AbortController();
    const client = createTestClient(server.baseUrl, {
      onRequest: () => setImmediate(() => stop.abort(reason)),
    });
    expect(await caught(client.credits({ signal: stop.signal }))).toBe(reason);
    expect(server.seen).toHaveLength(1);
  });

  test('ends an export that is being read', async () => {
    const server = await startServer((_, response) => response.write('{'));
    const stop = new AbortController();
    const client = createTestClient(server.baseUrl);
    const { signal } = stop;
    const { body } = await client.exportBatch(uuid, { format: 'json' }, { signal });
    const read = caught(text(body));
    stop.abort(reason);
    expect(await read).toBe(reason);
    await eventually(server.connections).toBe(0);
  });

  test('ends an upload, and closes its file', async () => {
    const server = await startRawServer((socket) => socket.pause());
    let isClosed = false;
    const stop = new AbortController();
    const file = {
      sizeBytes: 1e9,
      async *open() {
        try {
          for (;;) yield Buffer.alloc(1e6);
        } finally {
          isClosed = true;
        }
      },
    };
    const { signal } = stop;
    const client = createTestClient(server.baseUrl);
    const upload = caught(client.uploadBatch({ ...uploadFields, file }, { signal }));
    await eventually(server.connections).toBe(1);
    stop.abort(reason);
    expect(await upload).toBe(reason);
    await eventually(() => isClosed).toBe(true);
  });

  test('ends the making of a connection at once', async () => {
    // Says nothing of TLS, so the connection is never made.
    const server = await startRawServer((socket) => socket.resume());
    const stop = new AbortController();
    const client = createTestClient(server.baseUrl.replace('http:', 'https:'));
    const call = caught(client.launchBatch(uuid, { signal: stop.signal }));
    await eventually(server.connections).toBe(1);
    stop.abort(reason);
    expect(await call).toBe(reason);
  });

  test('of many calls by one signal raises no warning of a leak', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const server = await startServer(() => undefined);
    const client = createTestClient(server.baseUrl, {
      maxConcurrentRequests: 30,
      onOutage: () => undefined,
    });
    const stop = new AbortController();
    const { signal } = stop;
    const calls = Array.from({ length: 60 }, async () => caught(client.credits({ signal })));
    await eventually(() => server.seen.length).toBe(30);
    stop.abort(reason);
    expect(new Set(await Promise.all(calls))).toEqual(new Set([reason]));
    expect(warnings).toEqual([]);
  });
});
