import { getEventListeners } from 'node:events';
import { text } from 'node:stream/consumers';
import { Agent } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { systemClock } from '../../src/platform/waiting/clock.js';
import {
  caught,
  createFile,
  createTestClient,
  eventually,
  uploadFields,
  uuid,
} from './test-client.js';
import { sendJson, startEarlyServer, startServer } from './test-server.js';

/** Sockets and timers that are open, of this process as a whole. */
function openResources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap' || name === 'Timeout')
    .toSorted();
}

/** Ways a client's work can end. */
const endings: Record<string, (client: Client, signal: AbortSignal) => Promise<unknown>> = {
  success: async (client, signal) => {
    await client.uploadBatch({ ...uploadFields, file: createFile(1_000_000) }, { signal });
    await text((await client.exportBatch(uuid, { format: 'json' }, { signal })).body);
    return client.credits({ signal });
  },
  'an error answer': async (client, signal) => caught(client.batchDetails(uuid, { signal })),
  'an abandoned export': async (client, signal) => {
    const { body } = await client.exportBatch(uuid, { format: 'xlsx' }, { signal });
    body.destroy();
  },
  'an export left in the middle': async (client, signal) => {
    const { body } = await client.exportBatch(uuid, { format: 'xlsx' }, { signal });
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (chunk.length > 0) break;
    }
  },
  'an export that nobody reads, and a client that is closed': async (client, signal) =>
    client.exportBatch(uuid, { format: 'xlsx' }, { signal }),
  'a broken file': async (client, signal) => {
    const file = { sizeBytes: 5, open: () => [Buffer.alloc(3)] };
    return caught(client.uploadBatch({ ...uploadFields, file }, { signal }));
  },
  'an answer before the end of the body': async (client, signal) =>
    caught(
      client.format({ type: 'email', target_country: 'US', file: createFile(5e7) }, { signal }),
    ),
};

describe('nothing stays open', () => {
  for (const [how, work] of Object.entries(endings)) {
    test(`after ${how}`, async () => {
      const server = await startServer((request, response) => {
        if (request.url.includes('/details')) sendJson(response, 404, { message: 'gone' });
        else if (request.url.includes('format=xlsx')) response.write(Buffer.alloc(3_000_000));
        else if (request.url.includes('/export')) response.end('{}');
        else if (request.method === 'POST') sendJson(response, 200, { status: 'ok' });
        else sendJson(response, 200, { email_credit: 1, phone_credit: 1 });
      });
      const early = await startEarlyServer((_, response) => sendJson(response, 413, {}));
      const before = openResources();
      const stop = new AbortController();
      const { baseUrl } = how.startsWith('an answer before') ? early : server;
      const client = createTestClient(baseUrl, { clock: systemClock, timeoutMs: 30_000 });
      await work(client, stop.signal);
      await client.close();
      await eventually(openResources).toEqual(before);
      await eventually(server.connections).toBe(0);
      expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
    });
  }

  test('after an abandoned export, even before the client is closed', async () => {
    const server = await startServer((_, response) => response.write(Buffer.alloc(3_000_000)));
    const client = createTestClient(server.baseUrl);
    const { body } = await client.exportBatch(uuid, { format: 'xlsx' });
    body.destroy();
    await eventually(server.connections).toBe(0);
    expect(body.destroyed).toBe(true);
  });
});

test('a given dispatcher is the caller’s to close', async () => {
  const server = await startServer((_, response) => sendJson(response, 200, { status: 'ok' }));
  const dispatcher = new Agent();
  onTestFinished(async () => dispatcher.destroy());
  const client = createTestClient(server.baseUrl, { dispatcher });
  await client.launchBatch(uuid);
  await client.close();
  expect(dispatcher.closed).toBe(false);
  expect(dispatcher.destroyed).toBe(false);
});

test('an export that breaks before it is read breaks for its reader, and not the process', async () => {
  const server = await startServer((_, response) => {
    response.write('{');
    setImmediate(() => response.destroy());
  });
  const { body } = await createTestClient(server.baseUrl).exportBatch(uuid, { format: 'json' });
  await eventually(() => body.destroyed).toBe(true);
  expect(await caught(text(body))).toMatchObject({ code: 'connection_lost' });
});

test('connections are used again', async () => {
  const server = await startServer((_, response) =>
    sendJson(response, 200, { email_credit: 1, phone_credit: 1 }),
  );
  const client = createTestClient(server.baseUrl);
  for (let round = 0; round < 20; round += 1) await client.credits();
  expect(await server.connections()).toBeLessThanOrEqual(2);
});
