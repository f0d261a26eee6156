import { join } from 'node:path';
import { inspect } from 'node:util';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { History } from '../../src/engine/history/history.js';
import { createService } from '../../src/service/index.js';
import { withFolder } from '../service/with-service.js';
import { version } from '../../src/platform/version.js';
import { Client, type VerificationService } from '../../src/client/client.js';
import { operations, type OperationName } from '../../src/contract/operations.js';
import { ConfigurationError } from '../../src/platform/errors/errors.js';
import {
  canaryKey,
  caught,
  createFile,
  createTestClient,
  uploadFields,
  uuid,
} from './test-client.js';
import { sendJson, startServer } from './test-server.js';

const credits = { email_credit: 10, phone_credit: 2.5 };
const summary = {
  batch_uuid: uuid,
  name: 'a',
  description: null,
  status: 'parsing_content',
  created_at: '2026-11-21T00:00:00Z',
  updated_at: '2026-11-21T00:00:00Z',
};

/** One call of each operation, what the server answers, and what must have been sent. */
const calls: Record<
  OperationName,
  {
    readonly call: (client: VerificationService) => Promise<unknown>;
    readonly sent: string;
    readonly answer: unknown;
    readonly body?: unknown;
  }
> = {
  credits: {
    call: async (client) => client.credits(),
    sent: 'GET /v1/account/credits',
    answer: credits,
  },
  listBatches: {
    call: async (client) =>
      client.listBatches({ limit: 1000, from_date: '2026-11-21T00:00:00+01:00' }),
    sent: 'GET /v1/batch?limit=1000&offset=0&from_date=2026-11-21T00%3A00%3A00%2B01%3A00',
    answer: [summary, { ...summary, more: 1 }],
  },
  uploadBatch: {
    call: async (client) => client.uploadBatch({ ...uploadFields, file: createFile(10) }),
    sent: 'POST /v1/batch',
    answer: { status: 'ok', batch_uuid: uuid, extra: { deep: [1] } },
  },
  batchStatus: {
    call: async (client) => client.batchStatus(uuid),
    sent: `GET /v1/batch/${uuid}`,
    answer: { status: 'a_new_one', cost: 3 },
  },
  updateBatch: {
    call: async (client) =>
      client.updateBatch(uuid, { type: 'phone', target_country: 'DE', target_audience: null }),
    sent: `PUT /v1/batch/${uuid}`,
    answer: { anything: true },
    body: {
      type: 'phone',
      target_country: 'DE',
      target_audience: null,
      use_account_cache: true,
      max_account_cache_backoff: 30,
      use_global_cache: true,
      max_global_cache_backoff: 30,
      remove_duplicate: true,
      remove_wrong_email_format: true,
      remove_wrong_phone_format: true,
    },
  },
  prepareBatch: {
    call: async (client) => client.prepareBatch(uuid),
    sent: `PATCH /v1/batch/${uuid}`,
    answer: { status: 'ok' },
  },
  launchBatch: {
    call: async (client) => client.launchBatch(uuid),
    sent: `POST /v1/batch/${uuid}`,
    answer: { status: 'verification_already_ongoing' },
  },
  deleteBatch: {
    call: async (client) => client.deleteBatch(uuid),
    sent: `DELETE /v1/batch/${uuid}`,
    answer: {},
  },
  exportBatch: {
    call: async (client) => {
      const { body, contentType } = await client.exportBatch(uuid, {
        format: 'json',
        include_details: false,
      });
      expect(contentType).toBe('application/json');
      return JSON.parse(await text(body)) as unknown;
    },
    sent: `GET /v1/batch/${uuid}/export?format=json&include_details=false&include_statistics=true`,
    answer: { 'a@b.example': { any: 1 } },
  },
  batchDetails: {
    call: async (client) => client.batchDetails(uuid),
    sent: `GET /v1/batch/${uuid}/details`,
    answer: { status: 'verification_ongoing', unseen: 1 },
  },
  verifyUnit: {
    call: async (client) => client.verifyUnit({ type: 'email', email: 'a@b.example' }),
    sent: 'POST /v1/unit',
    answer: { status: 'ok', record: {} },
    body: { type: 'email', email: 'a@b.example' },
  },
  format: {
    call: async (client) =>
      client.format({ type: 'phone', target_country: 'US', file: createFile(3) }),
    sent: 'POST /v1/format',
    answer: ['+12015550123'],
  },
};

describe('every operation', () => {
  for (const [name, { call, sent, answer, body }] of Object.entries(calls)) {
    test(`${name} sends what the table says and returns what the service answers`, async () => {
      const server = await startServer((_, response) => sendJson(response, 200, answer));
      const client = createTestClient(server.baseUrl);
      expect(await call(client)).toEqual(answer);
      const [request] = server.seen;
      expect(`${request?.method} ${request?.url}`).toBe(sent);
      expect(request?.headers['x-api-key']).toBe(
        operations[name as OperationName].keyed ? canaryKey : undefined,
      );
      expect(request?.headers['accept-encoding']).toBe('gzip, br');
      expect(request?.headers['user-agent']).toBe(`sluice/${version}`);
      const isJson = request?.headers['content-type'] === 'application/json';
      expect(isJson ? JSON.parse(request.body.toString()) : undefined).toEqual(body);
    });
  }
});

describe('the base URL', () => {
  test('keeps its path and does not mind slashes at its end', async () => {
    const server = await startServer((_, response) => sendJson(response, 200, credits));
    await createTestClient(`${server.baseUrl}/a/service//`).credits();
    expect(server.seen[0]?.url).toBe('/a/service/v1/account/credits');
  });

  test('may be a URL object', () => {
    const client = new Client({
      baseUrl: new URL('https://service.example/a/'),
      apiKey: canaryKey,
    });
    expect(client.baseUrl).toBe('https://service.example/a');
  });
});

describe('what is wrong before anything is sent', () => {
  const client = new Client({ baseUrl: 'https://service.example', apiKey: canaryKey });
  const wrong: Record<string, () => Promise<unknown>> = {
    'a batch_uuid that leads elsewhere': async () => client.batchStatus('../account/credits'),
    'an empty batch_uuid': async () => client.launchBatch(''),
    'a limit that is too high': async () => client.listBatches({ limit: 1001 }),
    'a name that is too long': async () =>
      client.uploadBatch({ ...uploadFields, name: 'a'.repeat(256), file: createFile(1) }),
    'a negative size': async () =>
      client.uploadBatch({ ...uploadFields, file: { sizeBytes: -1, open: () => [] } }),
    'a keyed operation without a key': async () =>
      new Client({ baseUrl: 'https://service.example' }).credits(),
  };
  for (const [what, call] of Object.entries(wrong)) {
    test(`refuses ${what}`, async () => {
      const error = await caught(call());
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ code: 'invalid_option' });
    });
  }

  test('refuses at once a key that the environment does not have, as it does an empty one', () => {
    for (const [apiKey, fault] of [
      [process.env['NOBODY_SETS_THIS'], 'missing'],
      ['', 'empty'],
    ] as const) {
      const made = (): Client => new Client({ baseUrl: 'https://service.example', apiKey });
      const refused = { code: 'invalid_option', option: 'apiKey', fault };
      expect(made).toThrow(expect.objectContaining(refused));
    }
  });

  test('names a key that is not given, and sends nothing', async () => {
    const server = await startServer((_, response) => sendJson(response, 401, {}));
    const { baseUrl } = server;
    const keyless = new Client({ baseUrl });
    for (const [operation, { call }] of Object.entries(calls)) {
      if (operation === 'format') continue;
      const error = await caught(call(keyless));
      expect(error, operation).toBeInstanceOf(ConfigurationError);
      expect(error, operation).toMatchObject({ option: 'apiKey', fault: 'missing' });
    }
    expect(server.seen).toEqual([]);
  });

  test('names the field and not the value', async () => {
    const error = await caught(client.listBatches({ limit: 123_456 }));
    expect(String(error)).toContain('limit');
    expect(String(error)).not.toContain('123456');
  });

  for (const [name, value] of [
    ['timeoutMs', 0],
    ['timeoutMs', Number.NaN],
    ['giveUpAfterMs', -1],
    ['maxConcurrentRequests', 0],
    ['maxConcurrentRequests', 1.5],
    ['maxAnswerBytes', 0],
    ['totalTimeoutMs', -3],
    ['userAgent', 'a\r\nx-b: c'],
  ] as const) {
    test(`refuses ${name} ${JSON.stringify(value)}`, () => {
      const options = { baseUrl: 'https://service.example', [name]: value };
      expect(() => new Client(options)).toThrow(ConfigurationError);
    });
  }
});

test('what is opened is closed at the end of its block by await using', async () => {
  const path = join(await withFolder(), 'results.history');
  let clientOf: Client;
  let url: string;
  {
    await using service = await createService();
    await using client = new Client(service);
    await using history = await History.open({ path, service: 'local' });
    expect(await client.credits()).toMatchObject({ email_credit: expect.any(Number) as number });
    expect((await history.stats()).path).toBe(path);
    clientOf = client;
    url = service.baseUrl;
  }
  expect(await caught(clientOf.credits())).toMatchObject({ code: 'invalid_option' });
  await expect(fetch(url)).rejects.toThrow();
  await (await History.open({ path })).close();
});

test('a closed client refuses to be used', async () => {
  const client = new Client({ baseUrl: 'https://service.example', apiKey: canaryKey });
  await client.close();
  await client.close();
  expect(await caught(client.credits())).toMatchObject({ code: 'invalid_option' });
});

test('prints its address alone', () => {
  const client = new Client({ baseUrl: 'https://service.example/v', apiKey: canaryKey });
  expect(inspect(client)).toBe('Client { https://service.example/v }');
});
