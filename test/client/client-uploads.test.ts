import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { Agent } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createMultipart } from '../../src/client/http/multipart.js';
import { InputError } from '../../src/platform/errors/errors.js';
import { caught, createFile, createTestClient, eventually, uploadFields } from './test-client.js';
import { TestClock } from '../../src/testing/test-clock.js';
import { selfSigned } from './http/self-signed.js';
import {
  listen,
  rawAnswer,
  sendJson,
  startEarlyServer,
  startRawServer,
  startServer,
} from './test-server.js';

const chunk = Buffer.alloc(64 * 1024, 'a');

describe('an upload', () => {
  test('announces its length and sends exactly that', async () => {
    const server = await startServer((_, response) => sendJson(response, 200, { status: 'ok' }));
    const client = createTestClient(server.baseUrl);
    await client.uploadBatch({ ...uploadFields, description: null, file: createFile(1_000_000) });
    const [request] = server.seen;
    expect(request?.headers['content-length']).toBe(String(request?.body.length));
    expect(request?.headers['transfer-encoding']).toBeUndefined();
  });

  for (const protocol of ['http', 'https'] as const) {
    test(`in lent chunks arrives to the byte, however slowly it is taken (${protocol})`, async () => {
      let arrived = Buffer.alloc(0);
      const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
        const chunks: Buffer[] = [];
        for await (const chunk of request as AsyncIterable<Buffer>) {
          chunks.push(chunk);
          if (chunks.length % 10 === 0) await turn();
        }
        arrived = Buffer.concat(chunks);
        response.end();
      };
      const server =
        protocol === 'https'
          ? createTlsServer({ ...selfSigned }, (...exchange) => void take(...exchange))
          : createServer((...exchange) => void take(...exchange));
      const baseUrl = await listen(server);
      const pieces = Array.from({ length: 40 }, (_, at) =>
        createHash('shake256', { outputLength: 100_000 + at * 10_007 })
          .update(String(at))
          .digest(),
      );
      const whole = Buffer.concat(pieces);
      const form = createMultipart({}, { sizeBytes: whole.length, open: () => pieces });
      const dispatcher = new Agent({ connect: { ca: selfSigned.cert } });
      onTestFinished(async () => dispatcher.destroy());
      const { body } = await dispatcher.request({
        origin: baseUrl.replace('http', protocol),
        path: '/',
        method: 'POST',
        headers: { 'content-length': String(form.contentLength) },
        body: form.open(true) as unknown as Readable,
      });
      await body.dump();
      expect(arrived.length).toBe(form.contentLength);
      const begin = arrived.indexOf('\r\n\r\n') + 4;
      expect(arrived.subarray(begin, begin + whole.length).equals(whole)).toBe(true);
    });
  }

  for (const [what, sizeBytes] of [
    ['fewer', 100_001],
    ['more', 99_999],
    ['more, from nothing', 0],
  ] as const) {
    test(`whose file yields ${what} bytes than announced is never whole`, async () => {
      const server = await startServer((_, response) => sendJson(response, 200, { status: 'ok' }));
      const { open } = createFile(100_000, 999);
      const upload = createTestClient(server.baseUrl).uploadBatch({
        ...uploadFields,
        file: { sizeBytes, open },
      });
      const error = await caught(upload);
      expect(error).toBeInstanceOf(InputError);
      expect(error).toMatchObject({ code: 'input_changed' });
      expect(server.seen).toHaveLength(0);
      await eventually(server.connections).toBe(0);
    });
  }

  test('whose file cannot be read says so, with the cause', async () => {
    const server = await startServer((_, response) => sendJson(response, 200, { status: 'ok' }));
    const cause = new Error('EIO');
    const file = {
      sizeBytes: 10,
      open: () => {
        throw cause;
      },
    };
    const error = await caught(
      createTestClient(server.baseUrl).uploadBatch({ ...uploadFields, file }),
    );
    expect(error).toMatchObject({ code: 'input_unreadable', cause });
  });

  test('closes its file when the service breaks off', async () => {
    const server = await startRawServer((socket) => socket.once('data', () => socket.destroy()));
    let isClosed = false;
    const file = {
      sizeBytes: 1000 * chunk.length,
      async *open() {
        try {
          for (let left = 1000; left > 0; left -= 1) yield chunk;
        } finally {
          isClosed = true;
        }
      },
    };
    const error = await caught(
      createTestClient(server.baseUrl).uploadBatch({ ...uploadFields, file }),
    );
    expect(error).toMatchObject({ code: 'connection_lost', sent: 'unknown' });
    await eventually(() => isClosed).toBe(true);
  });
});

describe('an answer before the whole body was sent', () => {
  const large = createFile(64 * 1024 * 1024, 256 * 1024);
  /** A file whose chunks come from elsewhere, and so at any moment. */
  const slow = {
    sizeBytes: large.sizeBytes,
    async *open() {
      for (const bytes of large.open()) {
        await turn();
        yield bytes;
      }
    },
  };
  const answer = rawAnswer(
    '413 Payload Too Large',
    ['content-length: 16', 'connection: close'],
    '{"message":"no"}',
  );

  for (const [pace, file] of [
    ['fast', large],
    ['slow', slow],
  ] as const) {
    test(`is given, and not the broken pipe, when the service closes at once (${pace})`, async () => {
      const server = await startRawServer((socket) =>
        socket.once('data', () => {
          socket.write(answer);
          socket.destroy();
        }),
      );
      const client = createTestClient(server.baseUrl);
      for (let round = 0; round < 20; round += 1) {
        const error = await caught(client.uploadBatch({ ...uploadFields, file }));
        expect(error).toMatchObject({ code: 'too_large', status: 413, serviceMessage: 'no' });
      }
    });

    test(`is given when a usual server says 413 and reads no further (${pace})`, async () => {
      const server = await startEarlyServer((_, response) =>
        sendJson(response, 413, { message: 'no' }, { connection: 'close' }),
      );
      const client = createTestClient(server.baseUrl);
      for (let round = 0; round < 20; round += 1) {
        const error = await caught(client.uploadBatch({ ...uploadFields, file }));
        expect(error).toMatchObject({ code: 'too_large', status: 413 });
      }
      await eventually(server.connections).toBe(0);
    });
  }

  test('is taken for a 401, too', async () => {
    const server = await startEarlyServer((_, response) =>
      sendJson(response, 401, { message: 'Unauthorized' }),
    );
    const client = createTestClient(server.baseUrl);
    const error = await caught(client.uploadBatch({ ...uploadFields, file: large }));
    expect(error).toMatchObject({ code: 'unauthorized', serviceMessage: 'Unauthorized' });
  });

  test('of 429 sends the body anew', async () => {
    const server = await startEarlyServer((request, response, count) => {
      if (count === 1) return sendJson(response, 429, {}, { connection: 'close' });
      request.resume().on('end', () => sendJson(response, 200, { status: 'ok' }));
    });
    const answered = await createTestClient(server.baseUrl).uploadBatch({
      ...uploadFields,
      file: large,
    });
    expect(answered).toEqual({ status: 'ok' });
  });
});

describe('silence during an upload', () => {
  test('is the service’s when it takes nothing', async () => {
    const clock = new TestClock();
    const server = await startRawServer((socket) => socket.pause());
    const client = createTestClient(server.baseUrl, { clock, timeoutMs: 30_000 });
    const file = createFile(256 * 1024 * 1024, 256 * 1024);
    const upload = caught(client.uploadBatch({ ...uploadFields, file }));
    await eventually(server.connections).toBe(1);
    // The kernel takes some megabytes before nothing goes any more; each chunk begins the limit anew.
    for (let round = 0; round < 50; round += 1) await clock.advance(1000);
    await clock.advance(60_000);
    expect(await upload).toMatchObject({ code: 'request_timeout', sent: 'unknown' });
  });

  test('is the file’s own while it is read, and nobody is blamed', async () => {
    const clock = new TestClock();
    const server = await startServer((_, response) => sendJson(response, 200, { status: 'ok' }));
    const client = createTestClient(server.baseUrl, { clock, timeoutMs: 30_000 });
    const gate = new EventTarget();
    let isReading = false;
    const file = {
      sizeBytes: 2 * 256 * 1024,
      async *open() {
        yield Buffer.alloc(256 * 1024);
        isReading = true;
        await once(gate, 'go');
        yield Buffer.alloc(256 * 1024);
      },
    };
    const upload = client.uploadBatch({ ...uploadFields, file });
    await eventually(() => isReading).toBe(true);
    await clock.advance(3_600_000);
    gate.dispatchEvent(new Event('go'));
    expect(await upload).toEqual({ status: 'ok' });
    expect(clock.sleeping).toBe(0);
  });
});
