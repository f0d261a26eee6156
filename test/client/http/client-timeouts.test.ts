import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { TransportError } from '../../../src/platform/errors/service-errors.js';
import { caught, createTestClient, eventually, uuid } from '../test-client.js';
import { TestClock } from '../../../src/testing/test-clock.js';
import { startRawServer, startServer } from '../test-server.js';

const limits = { timeoutMs: 30_000, connectTimeoutMs: 10_000 };

describe('a silent service', () => {
  test('costs one longest silence, and a launch is unknown then', async () => {
    const clock = new TestClock();
    const server = await startServer(() => undefined);
    const client = createTestClient(server.baseUrl, { clock, ...limits });
    const launch = caught(client.launchBatch(uuid));
    await eventually(() => server.seen.length).toBe(1);
    await clock.advance(29_000);
    await clock.advance(1000);
    const error = await launch;
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: 'request_timeout', sent: 'unknown', retryable: false });
    expect(String(error)).toContain('30000 ms');
    await eventually(server.connections).toBe(0);
    expect(clock.sleeping).toBe(0);
  });

  test('is asked again for a read', async () => {
    const clock = new TestClock();
    const server = await startServer((_, response, count) => {
      if (count > 1) response.end('{"status":"verification_done"}');
    });
    const client = createTestClient(server.baseUrl, { clock, ...limits });
    const status = client.batchStatus(uuid);
    await eventually(() => server.seen.length).toBe(1);
    await clock.advance(30_000);
    await clock.advance(1000);
    expect(await status).toEqual({ status: 'verification_done' });
  });

  test('that accepts no connection was surely not sent anything', async () => {
    const clock = new TestClock();
    // Accepts the connection, and never says a word of TLS: the connection is not made.
    const server = await startRawServer((socket) => socket.resume());
    const baseUrl = server.baseUrl.replace('http:', 'https:');
    const client = createTestClient(baseUrl, { clock, ...limits, giveUpAfterMs: 0 });
    const launch = caught(client.launchBatch(uuid));
    await eventually(server.connections).toBe(1);
    await clock.advance(10_000);
    expect(await launch).toMatchObject({
      code: 'service_unavailable',
      cause: { code: 'connection_failed', sent: 'no' },
    });
    await client.close();
    await eventually(server.connections).toBe(0);
  });
});

/** A server that begins an export and lets the test write the rest. */
async function startExport(): Promise<{
  readonly baseUrl: string;
  readonly connections: () => Promise<number>;
  readonly response: () => ServerResponse;
}> {
  let begun: ServerResponse | undefined;
  const server = await startServer((_, response) => {
    begun = response;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{');
  });
  const response = (): ServerResponse => {
    if (begun === undefined) throw new Error('no request yet');
    return begun;
  };
  return { baseUrl: server.baseUrl, connections: server.connections, response };
}

describe('an export', () => {
  test('that falls silent breaks', async () => {
    const clock = new TestClock();
    const server = await startExport();
    const client = createTestClient(server.baseUrl, { clock, ...limits });
    const { body } = await client.exportBatch(uuid, { format: 'json' });
    const read = caught(text(body));
    await turn();
    await clock.advance(31_000);
    expect(await read).toMatchObject({ code: 'request_timeout', operation: 'exportBatch' });
    await eventually(server.connections).toBe(0);
    expect(clock.sleeping).toBe(0);
  });

  test('that drips below the floor breaks', async () => {
    const clock = new TestClock();
    const server = await startExport();
    const client = createTestClient(server.baseUrl, { clock, ...limits });
    const { body } = await client.exportBatch(uuid, { format: 'json' });
    const read = caught(text(body));
    for (let second = 0; second < 40 && !body.destroyed; second += 1) {
      server.response().write(' ');
      await turn();
      await clock.advance(1000);
    }
    expect(await read).toMatchObject({ code: 'request_timeout' });
  });

  test('that flows, however long, is read to its end', async () => {
    const clock = new TestClock();
    const server = await startExport();
    const client = createTestClient(server.baseUrl, { clock, ...limits });
    const { body } = await client.exportBatch(uuid, { format: 'json' });
    let bytes = 0;
    body.on('data', (chunk: Buffer) => (bytes += chunk.length));
    for (let round = 1; round <= 20; round += 1) {
      server.response().write(Buffer.alloc(2000, ' '));
      await eventually(() => bytes).toBeGreaterThanOrEqual(round * 2000);
      await clock.advance(29_000);
    }
    server.response().end('}');
    await eventually(() => body.readableEnded).toBe(true);
    expect(bytes).toBe(40_002);
    expect(clock.sleeping).toBe(0);
  });

  test('waits for a slow reader without limit', async () => {
    const clock = new TestClock();
    const server = await startExport();
    const client = createTestClient(server.baseUrl, { clock, ...limits });
    const { body } = await client.exportBatch(uuid, { format: 'json' });
    await clock.advance(3_600_000);
    server.response().end(`${' '.repeat(5_000_000)}}`);
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // A day for every chunk.
      if (bytes < 1_000_000) await clock.advance(86_400_000);
    }
    expect(bytes).toBe(5_000_002);
  });

  test('has a total only when one is given', async () => {
    const clock = new TestClock();
    const server = await startExport();
    const client = createTestClient(server.baseUrl, { clock, ...limits, totalTimeoutMs: 100_000 });
    const { body } = await client.exportBatch(uuid, { format: 'json' });
    const closed = caught(text(body));
    server.response().write(Buffer.alloc(10_000_000));
    body.pause();
    await clock.advance(100_000);
    expect(await closed).toMatchObject({ code: 'request_timeout' });
  });
});

test('a small answer has a total by itself', async () => {
  const clock = new TestClock();
  let response: ServerResponse | undefined;
  const server = await startServer((_, given) => {
    response = given;
    given.write('{');
  });
  const client = createTestClient(server.baseUrl, { clock, ...limits });
  const launch = caught(client.launchBatch(uuid));
  let isDone = false;
  void launch.then(() => (isDone = true));
  await eventually(() => response).toBeDefined();
  let seconds = 0;
  for (; seconds < 200 && !isDone; seconds += 1) {
    response?.write(Buffer.alloc(1100, ' '));
    await turn();
    await turn();
    await clock.advance(1000);
  }
  expect(await launch).toMatchObject({ code: 'request_timeout', sent: 'unknown' });
  expect(seconds).toBe(120);
});
