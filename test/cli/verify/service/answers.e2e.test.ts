import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Summary } from '../../../../src/index.js';
import type { ServiceOptions } from '../../../../src/service/index.js';
import { withService } from '../../../service/with-service.js';
import { chargesOf, expectChargedOnce } from '../../harness/charges.js';
import { inFolder } from '../../harness/connect-to.js';
import { countRequests } from '../../harness/count-requests.js';
import { csvRows, expectInputKept } from '../../harness/csv-cells.js';
import { startFront, type Instead } from '../../harness/front.js';
import { type EndedHere, runInProcess } from '../../harness/run-in-process.js';
import { addresses, verifyByTens, withThirtyRows } from '../resume/verify-by-tens.js';
import { eventsOf } from '../../harness/logged-events.js';

let folder: string;
beforeEach(async () => {
  folder = await withThirtyRows();
});

/** Three batches of ten. */
const command = [...verifyByTens, '--quiet', '--summary', 'summary.json'];

async function verify(
  service: { readonly baseUrl: string; readonly apiKey: string },
  ...more: string[]
): Promise<EndedHere> {
  return runInProcess([...command, ...more], inFolder(folder, service));
}

async function readSummary(): Promise<Summary> {
  return JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Summary;
}

async function left(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name !== 'list.csv').toSorted();
}

function count(requests: readonly string[], pattern: RegExp): number {
  return requests.filter((request) => pattern.test(request)).length;
}

const upload = /^POST \/v1\/batch$/;
const launch = /^POST \/v1\/batch\/./;

describe('a service that does not take the run', () => {
  it('ends with 4 when the key is refused, and leaves nothing', async () => {
    const { service } = await withService();
    const ended = await verify({ baseUrl: service.baseUrl, apiKey: 'canary-wrong-key' });
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain('[unauthorized]');
    expect(ended.stderr).not.toContain('canary');
    expect(await left()).toEqual(['summary.json']);
  });

  it('ends with 7 when nobody answers for as long as it may wait', async () => {
    const { service } = await withService();
    await service.close();
    const ended = await verify(service, '--give-up-after', '0.2');
    expect(ended.code).toBe(7);
    const { host } = new URL(service.baseUrl);
    expect(eventsOf(ended, 'error')).toMatchObject([
      { code: 'service_unavailable', message: expect.stringContaining(host) },
    ]);
    expect(await left()).toEqual(['summary.json']);
  });

  it('ends with 7 when nothing is launched for as long, though all else is answered', async () => {
    const { service } = await withService();
    const front = await startFront(service, (request) =>
      launch.test(request) ? { status: 500, body: {} } : undefined,
    );
    const ended = await verify(front, '--give-up-after', '0.2');
    expect(ended.code).toBe(7);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'service_unavailable' }]);
  });

  it.each([400, 422])(
    'ends with 2 when its first batch is answered with %i: nothing was paid, nothing is left',
    async (status) => {
      const { service } = await withService();
      const front = await startFront(service, (request) =>
        upload.test(request)
          ? { status, body: { message: 'We do not take\u001b[31m lists on Sundays' } }
          : undefined,
      );
      const ended = await verify(front);
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain('We do not take');
      expect(ended.stderr).toContain('lists on Sundays');
      expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'batch_refused' }]);
      expect(ended.stderr).not.toContain('\u001b');
      expect(count(front.requests, upload)).toBe(1);
      expect(count(front.requests, launch)).toBe(0);
      expect(await left()).toEqual(['summary.json']);
    },
  );

  it('ends with 2 when the first preparation is refused, and deletes that batch', async () => {
    const { service, wire } = await withService();
    const front = await startFront(service, (request) =>
      request.startsWith('PATCH ') ? { status: 422, body: { message: 'no' } } : undefined,
    );
    expect((await verify(front)).code).toBe(2);
    expect(count(front.requests, upload)).toBe(1);
    expect((await wire.get('/v1/batch')).json).toEqual([]);
    expect(await left()).toEqual(['summary.json']);
  });

  it('ends with 7, resumable, when a later batch is refused', async () => {
    const { service } = await withService();
    let uploads = 0;
    let isStrict = true;
    const front = await startFront(service, (request) => {
      if (upload.test(request)) uploads += 1;
      return upload.test(request) && isStrict && uploads > 1
        ? { status: 422, body: { message: 'enough for today' } }
        : undefined;
    });
    const stopped = await verify(front);
    expect(stopped).toMatchObject({ code: 7, stderr: expect.stringContaining('enough for today') });
    expect(await left()).toEqual(['out.csv.sluice', 'summary.json']);
    // Also without a word on anything else.
    expect(eventsOf(stopped, 'so_far')).toMatchObject([{ email_credits: expect.any(Number) }]);
    expect(eventsOf(stopped, 'resumable')).toHaveLength(1);

    isStrict = false;
    expect((await verify(front)).code).toBe(0);
    expect(await left()).toEqual(['out.csv', 'summary.json']);
    await expectChargedOnce(service, await readSummary());
    expect(await chargesOf(service)).toHaveLength(addresses);
  });
});

describe('credits', () => {
  it('ends with 5 when they are used up, and goes on with the same batches when there are more', async () => {
    const apiKey = 'a-key-with-few-credits';
    const account = { name: 'default', key: apiKey };
    const { service } = await withService({ accounts: [{ ...account, emailCredits: 25 }] });
    const front = await startFront(service, () => undefined);

    const stopped = await verify(front);
    expect(stopped.code).toBe(5);
    expect(stopped.stderr).toContain('[payment_required]');
    expect(await left()).toEqual(['out.csv.sluice', 'summary.json']);
    const before = await chargesOf(service);
    expect(before).toHaveLength(20);

    // Again without more credits: nothing changes, nothing more is paid.
    expect((await verify(front)).code).toBe(5);
    expect(await chargesOf(service)).toHaveLength(20);

    await service.setAccounts([{ ...account, emailCredits: 1000 }]);
    expect((await verify(front)).code).toBe(0);
    expect(count(front.requests, upload)).toBe(3);
    const charges = await expectChargedOnce(service, await readSummary());
    expect(charges).toHaveLength(addresses);
    expect(new Set(charges.map(({ batch_uuid }) => batch_uuid))).toEqual(
      new Set((await readSummary()).batches.map(({ batch_uuid }) => batch_uuid)),
    );
    await expectInputKept(join(folder, 'list.csv'), join(folder, 'out.csv'));
    expect(await left()).toEqual(['out.csv', 'summary.json']);
  });

  it('launches no more than it may spend, and goes on when it may spend more', async () => {
    const { service } = await withService();
    const stopped = await verify(service, '--max-credits', '20');
    expect(stopped.code).toBe(5);
    expect(eventsOf(stopped, 'error')).toMatchObject([{ code: 'budget_exhausted' }]);
    expect(await chargesOf(service)).toHaveLength(20);

    expect((await verify(service, '--max-credits', '29')).code).toBe(5);
    expect(await chargesOf(service)).toHaveLength(20);
    expect((await verify(service, '--max-credits', '30')).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(addresses);
    await expectChargedOnce(service, await readSummary());
  });
});

describe('batches that break', () => {
  it('ends with 3 when one breaks after its launch, names it, and goes on with it when it is verified late', async () => {
    const { service } = await withService();
    let broken: string | undefined;
    const launched = new Set<string>();
    const front = await startFront(service, (request): Instead | undefined => {
      const [method = '', path = ''] = request.split(' ');
      if (launch.test(request)) launched.add(path);
      if (method !== 'GET' || !launched.has(path)) return undefined;
      broken ??= path;
      return path === broken ? { status: 200, body: { status: 'internal_error' } } : undefined;
    });
    const ended = await verify(front);
    const uuid = broken?.split('/').at(-1);
    expect(ended.code).toBe(3);
    expect(uuid).toBeDefined();
    const failed = csvRows(await readFile(join(folder, 'out.csv'))).filter(
      (row) => row['email_verification'] === 'failed',
    );
    expect(failed).toHaveLength(10);
    expect(failed[0]).toMatchObject({ email_reason: 'internal_error', email_valid: '' });
    await expectInputKept(join(folder, 'list.csv'), join(folder, 'out.csv'));
    expect(await readSummary()).toMatchObject({
      email: { buckets: { verified: 20, failed: 10 }, reasons: { internal_error: 10 } },
    });
    expect((await readSummary()).batches.find((batch) => batch.batch_uuid === uuid)).toMatchObject({
      stage: 'failed',
      reason: 'internal_error',
    });
    expect(await chargesOf(service)).toHaveLength(addresses);

    const again = await verify(front, '--retry-failed');
    expect(again.code).toBe(0);
    expect(await readSummary()).toMatchObject({ email: { buckets: { verified: 30, failed: 0 } } });
    // The list calls the one that broke verified by now: it is gone on with, and nothing is paid again.
    expect(await chargesOf(service)).toHaveLength(addresses);
    expect(await left()).toEqual(['out.csv', 'summary.json']);
  });

  it('pays nothing for a list that the service cannot parse', async () => {
    const { service } = await withService({
      variants: { statusWords: { ready_for_verification: 'internal_error' } },
    });
    const ended = await verify(service);
    expect(ended.code).toBe(3);
    expect(await readSummary()).toMatchObject({
      email: { buckets: { failed: addresses }, reasons: { internal_error: addresses } },
      credits: { email: { spent: 0 } },
    });
    expect(await chargesOf(service)).toEqual([]);
  });

  it('writes what there is when it is content with a part, and completes it later', async () => {
    const { service } = await withService();
    let isDown = false;
    const front = await startFront(service, () => (isDown ? { status: 503, body: {} } : undefined));
    const partial = await verify(front, '--max-credits', '20', '--partial');
    expect(partial.code).toBe(3);
    const half = { verified: 20, failed: 10 };
    expect(await readSummary()).toMatchObject({
      email: { buckets: half, reasons: { not_finished: 10 } },
      next: expect.stringContaining('--max-credits') as unknown,
    });
    await expectInputKept(join(folder, 'list.csv'), join(folder, 'out.csv'));

    isDown = true;
    expect((await verify(front, '--partial', '--give-up-after', '0.2')).code).toBe(3);
    expect(await readSummary()).toMatchObject({ email: { buckets: half }, exit_code: 3 });
    await expectInputKept(join(folder, 'list.csv'), join(folder, 'out.csv'));

    isDown = false;
    expect((await verify(front)).code).toBe(0);
    expect(await readSummary()).toMatchObject({ email: { buckets: { verified: 30 } } });
    expect(await chargesOf(service)).toHaveLength(addresses);
    expect(await left()).toEqual(['out.csv', 'summary.json']);
  });

  it('writes a part of another list, too, with what the run before has kept', async () => {
    const { service } = await withService();
    let isDown = false;
    const front = await startFront(service, () => (isDown ? { status: 503, body: {} } : undefined));
    expect((await verify(front, '--max-credits', '20')).code).toBe(5);
    const path = join(folder, 'list.csv');
    const [header = '', ...rows] = (await readFile(path, 'utf8')).trim().split('\n');
    // Of what was paid for 15 addresses are left, and 10 were never sent.
    await writeFile(path, `${[header, ...rows.slice(5)].join('\n')}\n`);
    const patience = ['--partial', '--give-up-after', '0.2'];
    isDown = true;
    expect((await verify(front, ...patience.slice(1))).code).toBe(7);
    expect((await verify(front, ...patience)).code).toBe(3);
    expect(await readSummary()).toMatchObject({
      exit_code: 3,
      email: { buckets: { verified: 15, failed: 10 }, reasons: { not_finished: 10 } },
      credits_before: { email: 20 },
    });
    await expectInputKept(path, join(folder, 'out.csv'));
    expect((await verify(front, ...patience, '--on-change', 'stop')).code).toBe(2);

    isDown = false;
    expect((await verify(front)).code).toBe(0);
    expect(await readSummary()).toMatchObject({ email: { buckets: { verified: 25 } } });
    expect(await chargesOf(service)).toHaveLength(addresses);
    expect(await left()).toEqual(['out.csv', 'summary.json']);
  });

  it('writes a part of nothing, too, and completes that', async () => {
    const { service } = await withService();
    let isDown = true;
    const front = await startFront(service, () => (isDown ? { status: 503, body: {} } : undefined));
    expect((await verify(front, '--partial', '--give-up-after', '0.2')).code).toBe(3);
    expect(await readSummary()).toMatchObject({ email: { reasons: { not_finished: addresses } } });
    isDown = false;
    expect((await verify(front)).code).toBe(0);
    expect(await chargesOf(service)).toHaveLength(addresses);
  });
});

describe('credits that are used up', () => {
  it.each([
    { partial: [], code: 5, reason: 'payment_required' },
    { partial: ['--partial'], code: 3, reason: 'not_finished' },
  ])(
    'asks for credits, and for no limit that was not given ($code)',
    async ({ partial, code, reason }) => {
      const accounts = [{ name: 'default', key: 'a-key', emailCredits: 20 }];
      const { service } = await withService({ accounts });
      const ended = await verify({ baseUrl: service.baseUrl, apiKey: 'a-key' }, ...partial);
      expect(ended.code, ended.stderr).toBe(code);
      expect(ended.stderr).not.toContain('--max-credits');
      expect(await readSummary()).toMatchObject({
        reason,
        next: expect.any(String) as string,
      });
    },
  );
});

describe('a launch that is carried out and answered as if it was not', () => {
  const answered = (status: number, requests: readonly number[]): ServiceOptions => ({
    faults: {
      faults: [{ operation: 'launchBatch', when: 'after', requests, what: { answer: { status } } }],
    },
  });

  it.each([401, 403])('is in doubt where the status cannot be read either: %i', async (status) => {
    const { service } = await withService(answered(status, [1, 2, 3]));
    let launches = 0;
    let letPass = (): void => undefined;
    const all = new Promise<void>((resolve) => (letPass = resolve));
    const front = await startFront(service, async (request) => {
      if (!launch.test(request)) return undefined;
      launches += 1;
      if (launches === 3) letPass();
      await all;
      return undefined;
    });
    const stopped = await verify(front, '--concurrency', '3');
    expect(stopped.code, stopped.stderr).toBe(4);
    expect(await chargesOf(service)).toHaveLength(addresses);
    const { credits } = await readSummary();
    expect(credits.email).toMatchObject({ spent: 0, net: null, in_doubt: addresses });
    expect(eventsOf(stopped, 'so_far')).toMatchObject([
      { in_doubt: 3, doubtful_email_credits: addresses },
    ]);
    expect((await verify(front)).code).toBe(0);
    expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
  });

  it('is in doubt, too, where the rows are streamed', async () => {
    const { service } = await withService(answered(401, [1]));
    const toPipe = command.slice(0, command.indexOf('-o'));
    const stopped = await runInProcess(toPipe, inFolder(folder, service));
    expect(stopped.code, stopped.stderr).toBe(4);
    const paid = (await chargesOf(service)).length;
    expect(eventsOf(stopped, 'paid_in_vain')).toMatchObject([{ email_credits: paid }]);
  });

  it('counts as paid where its status shows it: 402', async () => {
    const { service } = await withService(answered(402, [1]));
    const stopped = await verify(service, '--concurrency', '1');
    expect(stopped.code, stopped.stderr).toBe(5);
    expect(await chargesOf(service)).toHaveLength(10);
    const { credits } = await readSummary();
    expect(credits.email).toMatchObject({ spent: 10, net: 10, source: 'cost_objects' });
    expect((await verify(service)).code).toBe(0);
    expect(await expectChargedOnce(service, await readSummary())).toHaveLength(addresses);
  });
});

describe('a key that is refused in the middle', () => {
  it('stops once with 4, and goes on under the key that takes its place', async () => {
    const account = { name: 'default', emailCredits: 1000 };
    const { service } = await withService({ accounts: [{ ...account, key: 'the-first-key' }] });
    const front = await startFront(service, async (request) => {
      if (launch.test(request)) await service.setAccounts([{ ...account, key: 'the-second-key' }]);
      return undefined;
    });
    const stopped = await verify({ baseUrl: front.baseUrl, apiKey: 'the-first-key' });
    expect(stopped.code).toBe(4);
    expect(stopped.stderr).not.toMatch(/the-first-key|the-second-key/);
    expect(await left()).toEqual(['out.csv.sluice', 'summary.json']);

    const ended = await verify({ baseUrl: front.baseUrl, apiKey: 'the-second-key' });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    await expectChargedOnce(service, await readSummary());
    expect(await chargesOf(service)).toHaveLength(addresses);
  });

  it("refuses another account's key before anything is sent", async () => {
    const accounts = [
      { name: 'one', key: 'key-of-one', emailCredits: 20 },
      { name: 'two', key: 'key-of-two', emailCredits: 1000 },
    ];
    const { service } = await withService({ accounts });
    const { baseUrl } = service;
    expect((await verify({ baseUrl, apiKey: 'key-of-one' })).code).toBe(5);
    const requests = countRequests(service);
    const ended = await verify({ baseUrl, apiKey: 'key-of-two' });
    expect(ended.code).toBe(2);
    expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'state_mismatch' }]);
    expect(requests.every((request) => request.startsWith('GET '))).toBe(true);
    expect(await chargesOf(service)).toHaveLength(20);
    expect(await left()).toEqual(['out.csv.sluice', 'summary.json']);
  });
});
