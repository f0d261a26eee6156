import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { bounds } from '../../src/client/batch-bounds.js';
import { BatchRound } from '../../src/client/batch-round.js';
import type { Client } from '../../src/client/client.js';
import type { BatchSummary } from '../../src/contract/bodies.js';
import type { OperationName } from '../../src/contract/operations.js';
import type { ServiceOptions } from '../../src/service/index.js';
import { createTestClock } from '../../src/testing/test-clock.js';
import { chargesOf } from '../cli/harness/charges.js';
import { refusal } from '../engine/driver/fake-service.js';
import { withService } from '../service/with-service.js';
import { caught, createTestClient } from './test-client.js';

const lines = Buffer.from('good@sluice.test\nbad@sluice.test\n');
const file = { sizeBytes: lines.length, open: () => [lines] };
const parameters = { type: 'email', target_country: 'US' } as const;

async function withHastyClient(options: ServiceOptions = {}) {
  const { service } = await withService({ apiKey: 'key-of-this-test', ...options });
  return { service, client: createTestClient(service.baseUrl, { apiKey: service.apiKey }) };
}

async function listed(client: Client): Promise<readonly BatchSummary[]> {
  const batches: BatchSummary[] = [];
  for await (const batch of client.batches()) batches.push(batch);
  return batches;
}

async function upload(client: Client, name: string): Promise<string> {
  const answer = await client.uploadBatch({ ...parameters, name, file });
  return String(answer['batch_uuid']);
}

describe('verifyFile', () => {
  test('brings a file to its results', async () => {
    const { service, client } = await withHastyClient();
    const reported: string[] = [];
    const onBatch = (uuid: string): number => reported.push(uuid);
    const done = await client.verifyFile(lines, { ...parameters, name: 'mine' }, { onBatch });
    expect(done).toMatchObject({ status: 'verification_done', batchUuid: reported[0] });
    const { body } = await client.exportBatch(done.batchUuid, { format: 'json' });
    expect(JSON.parse(await text(body))).toMatchObject({ 'good@sluice.test': { valid: true } });
    expect(await chargesOf(service)).toHaveLength(2);
    const [batch] = await listed(client);
    expect(batch?.name).toMatch(/^mine-[0-9a-f]{16}$/);
  });

  const lost = (operation: OperationName): ServiceOptions => ({
    faults: { faults: [{ operation, when: 'after', requests: [1], what: { reset: true } }] },
  });
  test.each<[string, ServiceOptions]>([
    ['upload', lost('uploadBatch')],
    ['launch', lost('launchBatch')],
    ['preparation', lost('prepareBatch')],
    ['uuid', { variants: { upload: 'no_uuid' } }],
  ])('pays once though the answer of the %s is lost', async (_, options) => {
    const { service, client } = await withHastyClient(options);
    const done = await client.verifyFile(file, parameters);
    expect(done.status).toBe('verification_done');
    expect(await chargesOf(service)).toHaveLength(2);
    expect(await listed(client)).toHaveLength(1);
  });

  test('launches again what surely was not launched', async () => {
    const what = { answer: { status: 500 } } as const;
    const { service, client } = await withHastyClient({
      faults: { faults: [{ operation: 'launchBatch', requests: [1], what }] },
    });
    await client.verifyFile(file, parameters);
    expect(await chargesOf(service)).toHaveLength(2);
    expect(service.faults()[0]).toMatchObject({ requests: 2, fired: 1 });
  });

  const answered = (
    operation: OperationName,
    when: 'before' | 'after',
    requests: readonly number[],
    status = 400,
  ): ServiceOptions => ({
    faults: { faults: [{ operation, when, requests, what: { answer: { status } } }] },
  });

  test.each([400, 402])(
    'goes on with a launch that was carried out and answered with %i',
    async (status) => {
      const { service, client } = await withHastyClient(
        answered('launchBatch', 'after', [1], status),
      );
      expect(await client.verifyFile(file, parameters)).toMatchObject({
        status: 'verification_done',
      });
      expect(await chargesOf(service)).toHaveLength(2);
      expect(service.faults()[0]).toMatchObject({ requests: 1, fired: 1 });
    },
  );

  test.each([401, 403])(
    'says that a launch answered with %i may be paid, and goes on with its batch by its batch_uuid',
    async (status) => {
      const { service, client } = await withHastyClient(
        answered('launchBatch', 'after', [1], status),
      );
      let batchUuid = '';
      const heard: string[] = [];
      const error = await caught(
        client.verifyFile(file, parameters, {
          onBatch: (uuid) => void (batchUuid = uuid),
          onSent: (sent) => heard.push(sent),
        }),
      );
      expect(error).toMatchObject({ operation: 'launchBatch', sent: 'unknown', retryable: false });
      expect(heard.at(-1)).toBe('unknown');
      expect(await client.finishBatch(batchUuid)).toMatchObject({ status: 'verification_done' });
      expect(await chargesOf(service)).toHaveLength(2);
      const direct = await withHastyClient(answered('launchBatch', 'before', [1], status));
      const uuid = await upload(direct.client, 'direct');
      expect(await caught(direct.client.launchBatch(uuid))).toMatchObject({ sent: 'unknown' });
    },
  );

  test.each([
    ['prepareBatch', { retryable: true }, 0],
    ['launchBatch', { sent: 'unknown', retryable: false }, 2],
  ] as const)(
    'says whether it may be paid where the service is away after %s',
    async (last, said, charges) => {
      const { service } = await withService({ verifyDelayMs: 60_000 });
      let paid: Promise<readonly unknown[]> | undefined;
      const client = createTestClient(service.baseUrl, {
        apiKey: service.apiKey,
        giveUpAfterMs: 1,
        onRequest({ operation }) {
          if (operation === last) {
            paid ??= chargesOf(service).finally(() => void service.close());
          }
        },
      });
      expect(await caught(client.verifyFile(file, parameters))).toMatchObject(said);
      expect(await paid).toHaveLength(charges);
    },
  );

  test('says of a launch that the status shows to be refused that it is not paid', async () => {
    const { service, client } = await withHastyClient(answered('launchBatch', 'before', [1], 402));
    const heard: string[] = [];
    const onSent = (sent: string): number => heard.push(sent);
    const error = await caught(client.verifyFile(file, parameters, { onSent }));
    expect(error).toMatchObject({ code: 'payment_required', sent: 'no' });
    expect(heard).toEqual(['no', 'unknown', 'unknown', 'no']);
    expect(await chargesOf(service)).toHaveLength(0);
  });

  test('prepares again what was refused and is not parsed, and ends with the second refusal', async () => {
    const once = await withHastyClient(answered('prepareBatch', 'before', [1]));
    const done = await once.client.verifyFile(file, parameters);
    expect(done.status).toBe('verification_done');
    const twice = await withHastyClient(answered('prepareBatch', 'before', [1, 2]));
    const error = await caught(twice.client.verifyFile(file, parameters));
    expect(error).toMatchObject({ code: 'bad_request', operation: 'prepareBatch' });
    expect(await chargesOf(twice.service)).toHaveLength(0);
  });

  test('waits for a launch that was accepted, though the batch is called ready or is not found', async () => {
    const clock = createTestClock();
    let [launches, looks] = [0, 0];
    const service: ConstructorParameters<typeof BatchRound>[0] = {
      listBatches: async () => [],
      uploadBatch: async () => ({ status: 'ok', batch_uuid: randomUUID() }),
      prepareBatch: async () => ({ status: 'ok' }),
      async launchBatch() {
        launches += 1;
        // Its credits are spent.
        if (launches > 1) throw refusal(402, 'launchBatch');
        return { status: 'ok' };
      },
      async batchStatus() {
        looks += 1;
        if (looks > 200 && looks < 200 + bounds.misses) throw refusal(404, 'batchStatus');
        return { status: looks <= 200 ? 'ready_for_verification' : 'verification_done' };
      },
    };
    const round = new BatchRound(service, { clock, random: () => 0 }, {});
    const done = await clock.runUntil(round.verifyFile(file, parameters));
    expect(done.status).toBe('verification_done');
    expect(launches).toBe(bounds.launches);
  });

  test.each(['batchStatus', 'prepareBatch', 'launchBatch'] as const)(
    'goes on though %s does not find the batch for a moment',
    async (operation) => {
      const what = { answer: { status: 404 } } as const;
      const { service, client } = await withHastyClient({
        faults: { faults: [{ operation, when: 'before', requests: [1, 2], what }] },
      });
      const done = await client.verifyFile(file, parameters);
      expect(done.status).toBe('verification_done');
      expect(service.faults()[0]).toMatchObject({ fired: 2 });
      expect(await chargesOf(service)).toHaveLength(2);
    },
  );

  test('is data where the file cannot be parsed', async () => {
    const what = { answer: { json: { status: 'parse_error' } } } as const;
    const { service, client } = await withHastyClient({
      faults: { faults: [{ operation: 'prepareBatch', what }] },
    });
    expect(await client.verifyFile(file, parameters)).toMatchObject({ status: 'parse_error' });
    expect(await chargesOf(service)).toHaveLength(0);
  });

  test.each([
    ['launchBatch', 'error', 'service_unavailable'],
    ['prepareBatch', 'error', 'service_unavailable'],
    ['uploadBatch', 'error', 'service_unavailable'],
    ['uploadBatch', 'parse_error', 'input_malformed'],
    ['uploadBatch', 'ok', 'broken_contract'],
  ] as const)('ends where %s is always answered with %s: %s', async (operation, status, code) => {
    const { service, client } = await withHastyClient({
      faults: { faults: [{ operation, what: { answer: { json: { status } } } }] },
    });
    const error = await caught(client.verifyFile(file, parameters, { pollIntervalMs: 1 }));
    expect(error).toMatchObject({ code });
    expect(await chargesOf(service)).toHaveLength(0);
  });

  test('prepares again only after some looks, as the service may be parsing already', async () => {
    const what = { answer: { json: { status: 'error' } } } as const;
    const { service, client } = await withHastyClient({
      parseDelayMs: 10,
      faults: {
        faults: [
          { operation: 'prepareBatch', when: 'after', requests: [1], what },
          { operation: 'batchStatus', requests: [99], what },
        ],
      },
    });
    const done = await client.verifyFile(file, parameters, { pollIntervalMs: 1 });
    expect(done.status).toBe('verification_done');
    const [prepared, looked] = service.faults();
    expect(prepared).toMatchObject({ fired: 1 });
    expect(looked?.requests).toBeGreaterThan(3 * ((prepared?.requests ?? 0) - 1));
  });

  test('names what is not given', async () => {
    const { client } = await withHastyClient();
    const call = client.verifyFile as (...given: unknown[]) => Promise<unknown>;
    expect(await caught(call.call(client, file))).toMatchObject({
      code: 'invalid_option',
      option: 'parameters',
    });
    expect(await caught(call.call(client, 'list.txt', parameters))).toMatchObject({
      option: 'file.sizeBytes',
    });
    const unit = client.verifyUnit as (given?: unknown) => Promise<unknown>;
    for (const given of [undefined, null, 'ana@example.org']) {
      expect(await caught(unit.call(client, given))).toMatchObject({
        option: 'verifyUnit',
      });
    }
  });

  test('ends where credits are short, and goes on by its batch_uuid', async () => {
    const { service, client } = await withHastyClient({
      faults: {
        faults: [{ operation: 'launchBatch', requests: [1], what: { answer: { status: 402 } } }],
      },
    });
    let batchUuid = '';
    const onBatch = (uuid: string): void => {
      batchUuid = uuid;
    };
    const error = await caught(client.verifyFile(file, parameters, { onBatch }));
    expect(error).toMatchObject({ code: 'payment_required' });
    expect(await client.finishBatch(batchUuid)).toMatchObject({ status: 'verification_done' });
    expect(await chargesOf(service)).toHaveLength(2);
  });
});

describe('finishBatch', () => {
  test.each(['uploaded', 'prepared', 'launched', 'done'])('goes on with what is %s', async (at) => {
    const { service, client } = await withHastyClient();
    const uuid = await upload(client, at);
    if (at !== 'uploaded') {
      await client.prepareBatch(uuid);
      await client.waitFor(uuid, 'ready_for_verification', { pollIntervalMs: 1 });
    }
    if (at === 'launched' || at === 'done') await client.launchBatch(uuid);
    if (at === 'done') await client.waitFor(uuid, 'verification_done');
    expect(await client.finishBatch(uuid)).toMatchObject({ status: 'verification_done' });
    expect(await chargesOf(service)).toHaveLength(2);
  });

  test('does not wait for a batch that is not there', async () => {
    const { client } = await withHastyClient();
    const error = await caught(client.finishBatch('6f1c2b9e-4d3a-4f7b-8a55-0c9d1e2f3a4b'));
    expect(error).toMatchObject({ code: 'not_found' });
  });
});

describe('waitFor', () => {
  test('takes a later status, and ends with internal_error', async () => {
    const { client, service } = await withHastyClient({
      faults: {
        faults: [{ operation: 'batchDetails', what: { batch: 'internal_error' } }],
      },
    });
    const uuid = await upload(client, 'one');
    await client.finishBatch(uuid);
    const done = await client.waitFor(uuid, 'ready_for_verification');
    expect(done.status).toBe('verification_done');
    const other = await upload(client, 'other');
    await client.batchDetails(other);
    expect((await client.waitFor(other, 'verification_done')).status).toBe('internal_error');
    expect(await chargesOf(service)).toHaveLength(2);
  });

  test('refuses what is no status, which every batch would seem to have', async () => {
    const { client } = await withHastyClient();
    const uuid = await upload(client, 'one');
    const error = await caught(client.waitFor(uuid, 'done' as 'verification_done'));
    expect(error).toMatchObject({ code: 'invalid_option' });
  });

  test('ends after its time, and with the signal', async () => {
    const { client } = await withHastyClient();
    const uuid = await upload(client, 'one');
    const error = await caught(client.waitFor(uuid, 'verification_done', { timeoutMs: 20_000 }));
    // Its time may also end while a status is on its way: then the error is that of the request.
    expect(error).toMatchObject({ name: expect.stringMatching(/Error$/), retryable: true });
    const signal = AbortSignal.abort('stop');
    expect(await caught(client.waitFor(uuid, 'verification_done', { signal }))).toBe('stop');
  });
});
