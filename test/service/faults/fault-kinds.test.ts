import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FaultPlan, ServiceOptions } from '../../../src/service/index.js';
import { ServiceClock, withService } from '../with-service.js';
import { all } from '../wire.js';

const lines = ['good1@sluice.test', 'bad2@sluice.test'];

type Fault = FaultPlan['faults'][number];

async function withFaults(faults: readonly Fault[], options: ServiceOptions = {}) {
  return withService({ ...options, faults: { faults: [...faults] } });
}

describe('a planned answer', () => {
  it('stands in place of an operation that was not carried out', async () => {
    const { wire } = await withFaults([
      {
        operation: 'uploadBatch',
        requests: [1],
        what: {
          answer: { status: 503, headers: { 'retry-after': '7' }, json: { message: 'busy' } },
        },
      },
    ]);
    const answer = await wire.uploadAnswer(lines);
    expect(answer).toMatchObject({ status: 503, text: '{"message":"busy"}' });
    expect(answer.headers['retry-after']).toBe('7');
    expect((await wire.get('/v1/batch')).list).toEqual([]);
    expect(await wire.upload(lines)).toMatch(/-/);
  });

  it('stands in place of the answer of one that was', async () => {
    const { service, wire } = await withFaults([
      { operation: 'launchBatch', when: 'after', times: 1, what: { answer: { status: 500 } } },
    ]);
    const uuid = await wire.upload(lines);
    await wire.prepare(uuid);
    expect(await wire.launch(uuid)).toMatchObject({ status: 500, text: '' });
    await wire.until(uuid, 'verification_done');
    expect(await all(service.ledger())).toHaveLength(2);
  });

  it('may be no JSON, lie about its length, or lead elsewhere', async () => {
    const { service, wire } = await withFaults([
      { operation: 'credits', requests: [1], what: { answer: { text: '{"email_credit":' } } },
      {
        operation: 'credits',
        requests: [2],
        what: { answer: { text: '{}', headers: { 'content-length': '9' } } },
      },
      {
        operation: 'credits',
        requests: [3],
        what: { answer: { status: 302, headers: { Location: 'http://127.0.0.1:9/' } } },
      },
    ]);
    expect((await wire.get('/v1/account/credits')).text).toBe('{"email_credit":');
    // It waits for bytes that never come.
    const lying = Promise.allSettled([wire.get('/v1/account/credits')]);
    while ((service.faults()[1]?.fired ?? 0) === 0) await wire.get('/v1/batch');
    const redirected = await wire.get('/v1/account/credits');
    expect(redirected.status).toBe(302);
    expect(redirected.headers['location']).toBe('http://127.0.0.1:9/');
    await service.close();
    expect(await lying).toMatchObject([{ status: 'rejected' }]);
  });
});

describe('a reset connection', () => {
  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('comes %s the commit', async (when, batches) => {
    const { wire } = await withFaults([
      { operation: 'uploadBatch', when, times: 1, what: { reset: true } },
    ]);
    await expect(wire.upload(lines)).rejects.toThrow(/ECONNRESET|EPIPE|other side closed/);
    expect((await wire.get('/v1/batch')).list).toHaveLength(batches);
  });

  it('is followed by a commit that comes late', async () => {
    const clock = new ServiceClock();
    const late = [
      { operation: 'uploadBatch', times: 1, what: { commitAfterMs: 100 } },
      { operation: 'launchBatch', times: 1, what: { commitAfterMs: 1 } },
    ] as const;
    const { wire } = await withFaults(late, { clock });
    await expect(wire.upload(lines)).rejects.toThrow(/ECONNRESET|EPIPE|other side closed/);
    expect((await wire.get('/v1/batch')).list).toEqual([]);
    await clock.run();
    let uuid: string | undefined;
    while (uuid === undefined) uuid = (await wire.get('/v1/batch')).list[0]?.batch_uuid;
    await wire.prepare(uuid);
    await expect(wire.launch(uuid)).rejects.toThrow(/ECONNRESET|EPIPE|other side closed/);
    await wire.until(uuid, 'verification_done');
  });
});

describe('silence', () => {
  it('lasts until somebody leaves', async () => {
    const { service, wire } = await withFaults([
      { operation: 'credits', times: 1, what: { hang: true } },
      { operation: 'listBatches', times: 1, what: { cutAtByte: 1, by: 'silence' } },
    ]);
    const silent = Promise.allSettled([wire.get('/v1/account/credits'), wire.get('/v1/batch')]);
    // Asked for by nobody else: a second request might be the one that meets the silence.
    while (service.faults().some(({ fired }) => fired === 0)) await setImmediate();
    await service.close();
    expect(await silent).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  });

  it('is followed by the true answer after a delay', async () => {
    const { service, wire } = await withFaults(
      [
        { operation: 'credits', requests: [1], what: { delayMs: 1 } },
        { operation: 'credits', requests: [2], when: 'after', what: { delayMs: 1 } },
        { operation: 'credits', requests: [3], what: { dripMs: 1 } },
      ],
      { emailCredits: 3 },
    );
    for (const _ of service.faults()) {
      expect((await wire.get('/v1/account/credits')).json.email_credit).toBe(3);
    }
    expect(service.faults().map(({ fired }) => fired)).toEqual([1, 1, 1]);
  });
});

describe('an upload whose sender leaves while it is delayed', () => {
  it('is dropped, and keeps nobody waiting', async () => {
    const { service } = await withFaults([{ operation: 'uploadBatch', what: { delayMs: 50 } }]);
    const left = new AbortController();
    const upload = fetch(`${service.baseUrl}/v1/batch`, {
      method: 'POST',
      headers: { 'X-Api-Key': service.apiKey, 'Content-Type': 'multipart/form-data; boundary=b' },
      body: 'x'.repeat(1_000_000),
      signal: left.signal,
    });
    const ended = expect(upload).rejects.toThrow(/abort/);
    while (service.faults()[0]?.fired === 0) await setImmediate();
    left.abort();
    await ended;
    await service.close();
  });
});

describe('an answer cut short', () => {
  it.each(['reset', 'close'] as const)('by %s is an error of its body', async (by) => {
    const { wire } = await withFaults([
      { operation: 'exportBatch', times: 1, what: { cutAtByte: 20, by } },
    ]);
    const { batch_uuid: uuid } = await wire.verify(lines);
    await expect(wire.records(uuid)).rejects.toThrow(/ECONNRESET|terminated|closed/);
    expect(Object.keys(await wire.records(uuid))).toEqual(lines);
  });

  it('by an end looks whole', async () => {
    const { wire } = await withFaults([
      { operation: 'exportBatch', times: 1, what: { cutAtByte: 20, by: 'end' } },
      { operation: 'credits', what: { cutAtByte: 3, by: 'end' } },
    ]);
    const { batch_uuid: uuid } = await wire.verify(lines);
    const path = `/v1/batch/${uuid}/export?format=json`;
    expect((await wire.get(path)).text).toBe('{"good1@sluice.test"');
    expect((await wire.get('/v1/account/credits')).text).toBe('{"e');
  });
});

describe('what happens to a batch', () => {
  it.each(['deleted', 'internal_error'] as const)(
    'is %s in any stage, charges staying',
    async (batch) => {
      const operation = 'batchStatus';
      const { service, wire } = await withFaults(
        [{ operation, when: 'after', requests: [1, 3, 5], what: { batch } }],
        { clock: new ServiceClock(), parseDelayMs: 1000 },
      );
      const gone = async (uuid: string) => {
        const answer = await wire.get(`/v1/batch/${uuid}`);
        if (batch === 'deleted') expect(answer.status).toBe(404);
        else expect(answer.json.status).toBe('internal_error');
      };
      const uploaded = await wire.upload(lines);
      expect(await wire.status(uploaded)).toBe('parsing_content');
      await gone(uploaded);
      const parsing = await wire.upload(lines);
      await wire.send('PATCH', `/v1/batch/${parsing}`);
      expect(await wire.status(parsing)).toBe('parsing_content');
      await gone(parsing);
      expect(await all(service.ledger())).toEqual([]);
    },
  );

  it.each(['deleted', 'internal_error'] as const)(
    'leaves the ledger whole when it is %s while verified',
    async (batch) => {
      const clock = new ServiceClock();
      const { service, wire } = await withFaults(
        [{ operation: 'launchBatch', when: 'after', what: { batch } }],
        { clock, verifyDelayMs: 1000 },
      );
      const uuid = await wire.upload(lines);
      await wire.prepare(uuid);
      expect((await wire.launch(uuid)).json.status).toBe('ok');
      expect((await wire.get(`/v1/batch/${uuid}/export?format=json`)).status).toBe(
        batch === 'deleted' ? 404 : 400,
      );
      // The next launch shares the slots of the job that was left behind.
      const next = await wire.upload(lines, { name: 'another' });
      await wire.prepare(next);
      await wire.launch(next);
      await clock.run();
      expect(await all(service.ledger())).toHaveLength(4);
    },
  );

  it('happens to the batch that an upload has made, and before a request that then misses it', async () => {
    const { wire } = await withFaults([
      { operation: 'uploadBatch', when: 'after', times: 1, what: { batch: 'internal_error' } },
      { operation: 'prepareBatch', requests: [2], what: { batch: 'deleted' } },
    ]);
    const uuid = await wire.upload(lines);
    expect(await wire.status(uuid)).toBe('internal_error');
    expect((await wire.send('PATCH', `/v1/batch/${uuid}`)).json.status).toBe('error');
    expect((await wire.send('PATCH', `/v1/batch/${uuid}`)).status).toBe(404);
  });
});

describe('a batch that is deleted after its export', () => {
  it('has been answered whole before', async () => {
    const { wire } = await withFaults([
      { operation: 'exportBatch', when: 'after', what: { batch: 'deleted' } },
    ]);
    const { batch_uuid: uuid } = await wire.verify(lines);
    expect(Object.keys(await wire.records(uuid))).toEqual(lines);
    expect((await wire.until(uuid, 'gone')).message).toBe('Not Found');
  });
});

describe('a revoked key', () => {
  it('is refused from then on, until it is given again', async () => {
    const { service, wire } = await withFaults(
      [{ operation: 'credits', requests: [2, 3], what: { key: 'revoked' } }],
      { apiKey: 'one' },
    );
    const statuses = async () => [
      (await wire.get('/v1/account/credits')).status,
      (await wire.get('/v1/batch')).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    expect(await statuses()).toEqual([401, 401]);
    // Whoever has no key is not counted.
    expect(service.faults()).toMatchObject([{ requests: 2, fired: 1 }]);
    await service.setAccounts([{ name: 'default', key: 'one' }]);
    expect(await statuses()).toEqual([401, 401]);
  });
});

describe('the report', () => {
  it('tells how often each fault fired, to the holder of a key', async () => {
    const { service, wire } = await withFaults([
      { operation: 'credits', requests: [1], what: { answer: { status: 500 } } },
      { operation: 'launchBatch', what: { reset: true } },
    ]);
    await wire.get('/v1/account/credits');
    await wire.get('/v1/account/credits');
    const report = await wire.get('/_local/faults');
    expect(report.list).toMatchObject([
      { fault: { operation: 'credits', requests: [1] }, requests: 2, fired: 1 },
      { fault: { operation: 'launchBatch' }, requests: 0, fired: 0 },
    ]);
    expect(report.list).toEqual(JSON.parse(JSON.stringify(service.faults())));
    expect((await wire.get('/_local/faults', { key: null })).status).toBe(401);
  });

  it('is empty when nothing was planned', async () => {
    const { service, wire } = await withService();
    expect(service.faults()).toEqual([]);
    expect((await wire.get('/_local/faults')).list).toEqual([]);
  });
});
