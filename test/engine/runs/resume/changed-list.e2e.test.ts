import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../../../src/client/client.js';
import { sqliteSink, sqliteSource } from '../../../../src/lists/sql/sqlite/index.js';
import type { RunOptions } from '../../../../src/engine/runs/options/run-options.js';
import type {
  CarriedRun,
  RunProgress,
} from '../../../../src/engine/runs/reporting/run-progress.js';
import { type Clock, systemClock } from '../../../../src/platform/waiting/clock.js';
import type { FaultPlan, ServiceOptions } from '../../../../src/service/index.js';
import { createFastClock } from '../../../../src/testing/test-clock.js';
import { startFront } from '../../../cli/harness/front.js';
import { dieBehind } from '../../../lists/sql/harness/spoilt-sinks.js';
import { Nights } from '../../history/nightly.js';
import { systemError, watchedFiles } from '../watched-files.js';
import type { Given } from '../../../platform/given.js';
import { openClient } from '../../../client/test-client.js';

/** Addresses of which every third is bad: a result on another's row shows. */
function mixed(count: number, from = 0): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const index = at + from;
    return `${index % 3 === 0 ? 'bad' : 'good'}${index}@sluice.test`;
  });
}

/** Every row of the output stands where it stood in the list, with the verdict of its own address. */
async function expectRows(nights: Nights, names: readonly string[]): Promise<void> {
  const rows: Record<string, string>[] = parse(await nights.output(), { columns: true });
  expect(rows.map(({ email }) => email)).toEqual(names);
  for (const row of rows) {
    expect(row).toMatchObject({
      email_verification: 'verified',
      email_valid: String(row['email']?.startsWith('good')),
    });
  }
  expect((await readdir(nights.folder)).toSorted()).not.toContain('run');
}

async function expectPaidOnce(nights: Nights, names: Iterable<string>): Promise<void> {
  expect((await nights.charges()).toSorted()).toEqual([...new Set(names)].toSorted());
}

const list = mixed(12);
/** One taken away, two moved, three new. */
const changed = [list[5], list[1], ...list.slice(3, 5), ...list.slice(6), ...mixed(3, 12)].filter(
  (name) => name !== undefined,
);
const all = [...list.slice(0, 6), ...changed];

/** Two of the four batches are paid for. */
const halfPaid: Given<RunOptions> = { maxCredits: 6 };

async function uploads(nights: Nights): Promise<readonly string[]> {
  const batches = await nights.client.listBatches({});
  return batches.map(({ status }) => status);
}

describe('a list that has changed since its run stopped', () => {
  const stops: [string, FaultPlan | undefined, Given<RunOptions>, string][] = [
    ['for the budget', undefined, halfPaid, 'budget_exhausted'],
    [
      'for the credits',
      { faults: [fault('launchBatch', 3, { answer: { status: 402 } })] },
      {},
      'payment_required',
    ],
    [
      'for a refused key',
      { faults: [fault('launchBatch', 3, { answer: { status: 401 } })] },
      {},
      'unauthorized',
    ],
    [
      'in an outage',
      { faults: [{ operation: 'exportBatch', from: 2, times: 1, what: { reset: true } }] },
      // The answer to another batch would say that the service is there.
      { concurrency: 1 },
      'service_unavailable',
    ],
    ['detached', undefined, { detach: true }, 'detached'],
    [
      'by a failing disk',
      undefined,
      {
        files: watchedFiles((call) => {
          if (call === 'rename 000002.part') throw systemError('EIO');
        }),
      },
      'output_failed',
    ],
  ];

  it.each(stops)('%s is gone on with, and paid for once', async (_, faults, options, code) => {
    const nights = await Nights.begin({ ...(faults && { faults }), verifyDelayMs: 20 });
    const client = new Client({
      baseUrl: nights.service.baseUrl,
      apiKey: nights.service.apiKey,
      giveUpAfterMs: 0,
    });
    try {
      await expect(nights.runWith(list, { client, ...options })).rejects.toMatchObject({ code });
    } finally {
      await client.close();
    }
    const paid = await nights.charges();
    expect(paid.length).toBeGreaterThan(3);
    const summary = await nights.runWith(changed, { detach: options.detach === true });
    await expectRows(nights, changed);
    await expectPaidOnce(nights, [...paid, ...changed]);
    expect(summary.batches.reduce((sum, { addresses }) => sum + addresses, 0)).toBe(
      new Set([...paid, ...changed]).size - paid.length,
    );
    // What was only uploaded is gone.
    expect(new Set(await uploads(nights))).toEqual(new Set(['verification_done']));
  });

  it('with what is not finished written as failed is completed', async () => {
    const nights = await Nights.begin();
    const summary = await nights.runWith(list, { ...halfPaid, partial: true });
    expect(summary.email?.buckets).toMatchObject({ verified: 6, failed: 6 });
    await nights.runWith(changed);
    await expectRows(nights, changed);
    await expectPaidOnce(nights, all);
  });

  const changes: [string, readonly string[], Given<RunOptions>][] = [
    ['grown', [...mixed(4, 20), ...list], {}],
    ['shrunk', list.slice(1, 7), {}],
    ['reordered', list.toReversed(), {}],
    ['cut into other batches', list, { batchSize: 5 }],
    ['read by another column', [...list].map((name) => name.toUpperCase()), { email: ['#2'] }],
    ['empty but for one', list.slice(2, 3), { onChange: 'carry' }],
    ['another by name and the same by address', list.map((name) => ` ${name}`), {}],
  ];

  it.each(changes)('and is %s is paid for once', async (_, names, options) => {
    const nights = await Nights.begin();
    await expect(nights.runWith(list, halfPaid)).rejects.toThrow();
    await nights.runWith(names, options);
    const rows: Record<string, string>[] = parse(await nights.output(), { columns: true });
    expect(rows.map(({ email }) => email)).toEqual(names);
    for (const row of rows) {
      expect(row['email_valid']).toBe(String(/good/i.test(row['email'] ?? '')));
    }
    const wanted = names.map((name) => name.trim().toLowerCase());
    expect((await nights.charges()).map((name) => name.toLowerCase()).toSorted()).toEqual(
      [...new Set([...list.slice(0, 6), ...wanted])].toSorted(),
    );
  });

  it('keeps the batch groups apart: what was paid for in one country is no result in another', async () => {
    const nights = await Nights.begin();
    await expect(nights.runWith(list, halfPaid)).rejects.toThrow();
    const before = await nights.charges();
    await expect(nights.runWith(list, { country: 'DE' })).rejects.toMatchObject({
      code: 'state_mismatch',
      differs: ['country'],
    });
    expect(await nights.charges()).toEqual(before);
    await nights.runWith(list, { country: 'DE', onChange: 'carry' });
    await expectRows(nights, list);
    expect((await nights.charges()).slice(before.length)).toEqual(list);
  });

  it('may change night after night, and what no night needs is kept until the run ends', async () => {
    const nights = await Nights.begin();
    const budget = { maxCredits: 3 };
    await expect(nights.runWith(list, budget)).rejects.toThrow();
    // The first three are not in the second list, and are in the fourth.
    await expect(
      nights.runWith(list.slice(3), { ...budget, onChange: 'carry' }),
    ).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect(await nights.charges()).toHaveLength(6);
    await expect(nights.runWith(list.slice(3).toReversed(), budget)).rejects.toThrow();
    expect(await nights.charges()).toHaveLength(9);
    const summary = await nights.runWith([...list, 'good99@sluice.test']);
    await expectRows(nights, [...list, 'good99@sluice.test']);
    await expectPaidOnce(nights, [...list, 'good99@sluice.test']);
    expect(summary.credits.email).toMatchObject({ spent: 4 });
    expect(summary.email).toMatchObject({ addresses: 13, from_history: 9 });
  });

  it('enters the history, whatever tonight needs of it', async () => {
    const nights = await Nights.begin();
    await expect(nights.runWith(list, halfPaid)).rejects.toThrow();
    // Under another seed than that of the run.
    await nights.night(mixed(2, 30), { onChange: 'auto' });
    expect(await nights.charges()).toHaveLength(8);
    const summary = await nights.night(list, { provenance: true });
    expect(summary.email).toMatchObject({ from_history: 6 });
    await expectRows(nights, list);
    await expectPaidOnce(nights, [...list, ...mixed(2, 30)]);
  });

  const paidLeft: [string, Given<RunOptions>][] = [
    ['fetched', halfPaid],
    ['left to the service', { detach: true }],
  ];

  it.each(paidLeft)(
    'loses nothing of what was paid and %s once a history is added',
    async (_, how) => {
      const nights = await Nights.begin();
      await expect(nights.runWith(list, how)).rejects.toThrow();
      const other = [...list.slice(0, 1), ...mixed(5, 30)];
      const refused = { code: 'state_mismatch', option: 'history' };
      await expect(nights.runWith(other)).rejects.toMatchObject(refused);
      const carried: RunProgress[] = [];
      await nights.night(other, {
        onProgress: (progress) => void (progress.stage === 'carried' && carried.push(progress)),
      });
      expect(carried).toMatchObject([{ usedAddresses: 1, hasHistory: true }]);
      await expectRows(nights, other);
      await nights.night(list);
      await expectRows(nights, list);
      await expectPaidOnce(nights, [...list, ...other]);
    },
  );

  it('is stopped when that is asked for, or when most of what was paid would be of no use', async () => {
    const nights = await Nights.begin();
    await expect(nights.runWith(list, halfPaid)).rejects.toThrow();
    const journal = await readFile(join(nights.folder, 'run', 'journal'));
    const requests: string[] = [];
    const onProgress = (progress: RunProgress): void => void requests.push(progress.stage);
    await expect(nights.runWith(changed, { onChange: 'stop', onProgress })).rejects.toMatchObject({
      code: 'state_mismatch',
      option: 'onChange',
      differs: ['source'],
      message: expect.stringMatching(/\b13\b.*\b12\b/) as string,
    });
    await expect(nights.runWith(mixed(6, 4), { onProgress })).rejects.toMatchObject({
      code: 'state_mismatch',
      option: 'history',
      message: expect.stringMatching(/\b6\b.*\b2\b.*`onChange: 'carry'`.*`fresh`/) as string,
    });
    expect(requests).not.toContain('carried');
    expect(await readFile(join(nights.folder, 'run', 'journal'))).toEqual(journal);
    await expect(nights.runWith(changed, { onChange: 'never' as 'stop' })).rejects.toMatchObject({
      code: 'invalid_option',
    });
    // The old list back is another way on.
    await nights.runWith(list);
    await expectPaidOnce(nights, list);
  });

  it('is tried with fewer rows at the cost of what was paid only where a person agrees', async () => {
    const nights = await Nights.begin();
    await expect(nights.runWith(list, halfPaid)).rejects.toThrow();
    const asked: CarriedRun[] = [];
    const onCarry = (carried: CarriedRun): boolean => asked.push(carried) === 0;
    await expect(nights.runWith(list, { limit: 4, onCarry })).rejects.toMatchObject({
      code: 'state_mismatch',
    });
    expect(asked).toMatchObject([{ paidAddresses: 6, usedAddresses: 4 }]);
    await nights.runWith(list);
    await expectPaidOnce(nights, list);
  });

  it('says what is used again before it sends anything', async () => {
    const nights = await Nights.begin();
    await expect(nights.runWith(list, halfPaid)).rejects.toThrow();
    const reported: RunProgress[] = [];
    await nights.runWith(changed, { onProgress: (progress) => reported.push(progress) });
    const [goingOn, carried] = reported.filter(({ stage }) => stage !== 'reading');
    expect(goingOn).toMatchObject({ stage: 'going_on', status: { done: 2 } });
    expect(carried).toMatchObject({
      stage: 'carried',
      change: expect.stringMatching(/\b13\b.*\b12\b/) as string,
      paidBatches: 2,
      usedBatches: 2,
      paidAddresses: 6,
      usedAddresses: 4,
      failedAddresses: 0,
      unfinished: 0,
      hasHistory: false,
    });
    expect(reported.filter(({ stage }) => stage === 'carried')).toHaveLength(1);
  });

  it('has its failed addresses sent again only when a person asks', async () => {
    const nights = await Nights.begin({
      faults: {
        faults: [{ operation: 'exportBatch', requests: [1], what: { batch: 'internal_error' } }],
      },
    });
    await expect(nights.runWith(list, halfPaid)).rejects.toThrow();
    const paid = await nights.charges();
    const summary = await nights.runWith(changed);
    expect(summary.email?.buckets.failed).toBeGreaterThan(0);
    await expectPaidOnce(nights, [...paid, ...changed]);
    await nights.runWith(changed, { retryFailed: true });
    await expectRows(nights, changed);
  });

  it('does not count what failed in an earlier run as used again', async () => {
    const what = { batch: 'internal_error' } as const;
    const nights = await Nights.begin({
      faults: { faults: [{ operation: 'exportBatch', requests: [1], what }] },
    });
    await expect(nights.runWith(mixed(12), halfPaid)).rejects.toThrow();
    await expect(nights.runWith(mixed(13), { maxCredits: 3 })).rejects.toThrow();
    const carried: CarriedRun[] = [];
    await nights.runWith(mixed(14), {
      onProgress: (progress) => void (progress.stage === 'carried' && carried.push(progress)),
    });
    expect(carried).toMatchObject([{ paidAddresses: 6, usedAddresses: 6, failedAddresses: 3 }]);
  });

  it('is paid for once where a launch in doubt arrives before its addresses are retried', async () => {
    const error = { answer: { json: { status: 'error' } } };
    const nights = await Nights.begin({
      faults: {
        faults: [
          { operation: 'launchBatch', times: 20, what: error },
          { operation: 'launchBatch', requests: [22], what: { answer: { status: 402 } } },
        ],
      },
    });
    // Twenty launches may take longer than the ten minutes of a fast clock for which a client tries.
    const { baseUrl, apiKey } = nights.service;
    const client = new Client({ baseUrl, apiKey, giveUpAfterMs: 86_400_000 });
    onTestFinished(async () => client.close());
    const few = { client, clock: createFastClock() };
    await expect(nights.runWith(list, few)).rejects.toThrow();
    const failed = (await nights.runWith(changed, few)).email?.reasons;
    expect(failed).toMatchObject({ launch_error: 1 });
    const uploads = await nights.client.listBatches({});
    const open = uploads.find(({ status }) => status === 'ready_for_verification');
    await nights.client.launchBatch(open?.batch_uuid ?? '');
    await nights.runWith(changed, { ...few, retryFailed: true });
    await expectRows(nights, changed);
    await expectPaidOnce(nights, all);
  });

  it('is not carried over by a copy of its state, whose other copy may go on', async () => {
    const nights = await Nights.begin();
    await expect(nights.runWith(list, halfPaid)).rejects.toThrow();
    const stateDir = join(nights.folder, 'copy');
    await cp(join(nights.folder, 'run'), stateDir, { recursive: true });
    await expect(nights.runWith(changed, { stateDir })).rejects.toMatchObject({
      code: 'state_mismatch',
      message: expect.stringContaining('`moved`') as string,
    });
    expect(await nights.charges()).toHaveLength(6);
    await nights.runWith(changed, { stateDir, moved: true });
    await expectPaidOnce(nights, all);
  });

  it('pays for no address that it lacks where launches were in doubt and did not arrive', async () => {
    const nights = await beginInDoubt();
    expect(await nights.charges()).toEqual(list.slice(0, 6));
    const tonight = [...list.slice(0, 6), ...mixed(3, 20)];
    await nights.runWith(tonight);
    await expectRows(nights, tonight);
    await expectPaidOnce(nights, tonight);
    // What was never launched is gone.
    expect(new Set(await uploads(nights))).toEqual(new Set(['verification_done']));
  });

  it('does not count launches that did not arrive for what was paid', async () => {
    const nights = await beginInDoubt();
    const tonight = [...list.slice(3, 6), ...mixed(3, 20)];
    await nights.runWith(tonight);
    await expectRows(nights, tonight);
    await expectPaidOnce(nights, [...list.slice(0, 6), ...tonight]);
  });

  /** Of four batches two are verified; whether the other two were launched is not known. */
  async function beginInDoubt(
    faults: FaultPlan['faults'] = [],
    options: ServiceOptions = {},
  ): Promise<Nights> {
    const unanswered = { answer: { status: 503 } };
    const nights = await Nights.begin({
      ...options,
      faults: {
        faults: [{ operation: 'launchBatch', from: 3, times: 4, what: unanswered }, ...faults],
      },
    });
    const { baseUrl, apiKey } = nights.service;
    const client = openClient({ baseUrl, apiKey, giveUpAfterMs: 0 });
    await expect(nights.runWith(list, { client })).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    return nights;
  }

  /** Asks again where the service, as it was asked to, does not answer yet. */
  async function launch(nights: Nights, uuid: string): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await nights.client.launchBatch(uuid);
        return;
      } catch (error) {
        if (tries === 5) throw error;
      }
    }
  }

  it('pays once for what is launched while it is deleted', async () => {
    // What is launched is not verified before its deletion is asked for: a verified batch may be deleted.
    let asked = Promise.resolve();
    const sleep: Clock['sleep'] = async (ms, signal) => {
      await systemClock.sleep(ms, signal);
      await asked;
    };
    const clock = { ...systemClock, sleep };
    const nights = await beginInDoubt([], { clock, verifyDelayMs: 1 });
    const { baseUrl, apiKey } = nights.service;
    const client = openClient({ baseUrl, apiKey });
    const { deleteBatch } = client;
    client.deleteBatch = async (uuid, options) => {
      client.deleteBatch = deleteBatch;
      let goOn = (): void => undefined;
      asked = new Promise((resolve) => (goOn = resolve));
      await launch(nights, uuid);
      return deleteBatch.call(client, uuid, options).finally(goOn);
    };
    await nights.runWith(changed, { client });
    await expectRows(nights, changed);
    const paid = await nights.charges();
    expect(new Set(paid).size).toBe(paid.length);
  });

  it.each([
    ['is not deleted', { status: 403 }],
    ['is reported to be deleted', { json: {} }],
  ])('sends nothing in the place of what may still be launched, and %s', async (_, answer) => {
    const nights = await beginInDoubt([{ operation: 'deleteBatch', times: 2, what: { answer } }]);
    const before = (await uploads(nights)).length;
    await expect(nights.runWith(changed)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(await uploads(nights)).toHaveLength(before);
    const open = (await nights.client.listBatches({})).find(
      ({ status }) => status === 'ready_for_verification',
    );
    await launch(nights, open?.batch_uuid ?? '');
    await nights.runWith(changed);
    await expectRows(nights, changed);
    const paid = await nights.charges();
    expect(new Set(paid).size).toBe(paid.length);
  });

  it.each([
    ['before', 'changed'],
    ['before', 'first'],
    ['behind', 'changed'],
    ['behind', 'first'],
  ])(
    'is paid for once where a process was killed %s a deletion, and the %s list comes next',
    async (when, which) => {
      const next = which === 'changed' ? changed : list;
      const nights = await beginInDoubt();
      const { baseUrl, apiKey } = nights.service;
      const client = openClient({ baseUrl, apiKey });
      const { deleteBatch, launchBatch } = Client.prototype;
      let killed = '';
      client.deleteBatch = async (uuid, options) => {
        killed = uuid;
        if (when === 'behind') await deleteBatch.call(client, uuid, options);
        throw new Error('killed');
      };
      await expect(nights.runWith(changed, { client })).rejects.toThrow('killed');
      client.deleteBatch = deleteBatch;
      // The first night's launch arrives as late as can be.
      client.launchBatch = async (uuid, options) => {
        client.launchBatch = launchBatch;
        if (when === 'before') await launch(nights, killed).catch(() => undefined);
        return launchBatch.call(client, uuid, options);
      };
      await nights.runWith(next, { client, pollIntervalMs: 1 });
      await expectRows(nights, next);
      const paid = await nights.charges();
      expect(new Set(paid).size).toBe(paid.length);
      expect(new Set(await uploads(nights))).toEqual(new Set(['verification_done']));
    },
  );

  it.each([true, false])(
    'is paid for once where the answer to a launch did not come before the stop (arrived: %s)',
    async (hasArrived) => {
      const nights = await Nights.begin();
      const { baseUrl, apiKey } = nights.service;
      const client = openClient({ baseUrl, apiKey });
      const stop = new AbortController();
      const { launchBatch } = Client.prototype;
      let launches = 0;
      client.launchBatch = async (uuid, options) => {
        launches += 1;
        if (launches < 3) return launchBatch.call(client, uuid, options);
        if (hasArrived) await nights.client.launchBatch(uuid);
        // The time that a stop gives to an answer is over.
        stop.abort(new Error('terminated'));
        throw stop.signal.reason as Error;
      };
      const stopped = nights.runWith(list, { client, signal: stop.signal, concurrency: 1 });
      await expect(stopped).rejects.toThrow('terminated');
      const tonight = [...list.slice(0, 6), ...mixed(3, 20)];
      await nights.runWith(tonight);
      await expectRows(nights, tonight);
      await expectPaidOnce(nights, [...tonight, ...(hasArrived ? list.slice(6, 9) : [])]);
    },
  );

  it('is in no doubt of a launch that was under way when it was stopped', async () => {
    const nights = await Nights.begin();
    const stop = new AbortController();
    const front = await startFront(nights.service, (request) => {
      if (/^POST .*batch\/./.test(request)) stop.abort(new Error('stopped'));
      return undefined;
    });
    const client = openClient({ baseUrl: front.baseUrl, apiKey: front.apiKey });
    const stages: string[] = [];
    const onProgress = (progress: RunProgress): void => {
      if (progress.stage === 'batch') stages.push(progress.state.stage);
    };
    await expect(nights.runWith(list, { client, onProgress, signal: stop.signal })).rejects.toThrow(
      'stopped',
    );
    expect(stages.slice(-2)).toEqual(['launching', 'verifying']);
    expect(await nights.charges()).toEqual(list.slice(0, 3));
  });

  it('of which nothing was sent begins again, for whatever service it is', async () => {
    const nights = await Nights.begin();
    const interrupted = new AbortController();
    const killed = nights.runWith(list, {
      signal: interrupted.signal,
      onProgress: ({ stage }) => {
        if (stage === 'read') interrupted.abort(new Error('interrupted'));
      },
      files: watchedFiles((call) => {
        if (call.startsWith('rm ')) throw systemError('EIO');
      }),
    });
    await expect(killed).rejects.toThrow();
    expect(await readdir(nights.folder)).toContain('run');
    await nights.runWith(changed, { settings: { description: 'another' } });
    await expectRows(nights, changed);
    await expectPaidOnce(nights, changed);
  });
});

describe('a query and a table', () => {
  async function begin(): Promise<{ nights: Nights; database: Database.Database; url: string }> {
    const nights = await Nights.begin();
    const url = join(nights.folder, 'contacts.db');
    const database = new Database(url);
    onTestFinished(() => void database.close());
    database.exec('create table contacts (id integer primary key, email text)');
    for (const name of list) {
      database.prepare('insert into contacts (email) values (?)').run(name);
    }
    return { nights, database, url };
  }

  it('that gives other rows is a list that has changed', async () => {
    const { nights, database, url } = await begin();
    const source = sqliteSource({ url, query: 'select id, email from contacts order by id' });
    await expect(nights.runWith(list, { source, ...halfPaid })).rejects.toThrow();
    database.exec(`delete from contacts where email = '${String(list[0])}'`);
    database.exec("insert into contacts (email) values ('good50@sluice.test')");
    await nights.runWith(list, { source });
    await expectRows(nights, [...list.slice(1), 'good50@sluice.test']);
    await expectPaidOnce(nights, [...list, 'good50@sluice.test']);
  });

  it('that was written before all was verified is written again for another list', async () => {
    const { nights, database, url } = await begin();
    const ends = (): Given<RunOptions> => ({
      source: sqliteSource({ url, query: 'select id, email from contacts order by id' }),
      sink: sqliteSink({ url, into: 'verified' }),
    });
    await nights.runWith(list, { ...ends(), ...halfPaid, partial: true });
    database.exec("insert into contacts (email) values ('good50@sluice.test')");
    await nights.runWith(list, ends());
    const rows = database.prepare('select email, email_valid from verified order by id').all();
    expect(rows).toMatchObject(
      [...list, 'good50@sluice.test'].map((email) => ({
        email,
        email_valid: email.startsWith('good') ? 1 : 0,
      })),
    );
    await expectPaidOnce(nights, [...list, 'good50@sluice.test']);
  });

  it('that gives what is left needs nobody after a kill behind the commit', async () => {
    const { nights, database, url } = await begin();
    database.exec('create table verified (id integer primary key, email text)');
    const query = 'select id, email from contacts where id not in (select id from verified)';
    const sink = sqliteSink({ url, into: 'verified', key: 'id' });
    const source = sqliteSource({ url, query });
    const killed = dieBehind(sink, new Error('killed'));
    await expect(nights.runWith(list, { source, sink: killed })).rejects.toThrow('killed');
    const summary = await nights.runWith(list, { source, sink });
    expect(summary.rows).toBe(0);
    expect(database.prepare('select count(*) as rows from verified').all()).toMatchObject([
      { rows: list.length },
    ]);
    await expectPaidOnce(nights, list);
  });
});

function fault(
  operation: 'launchBatch',
  request: number,
  what: { readonly answer: { readonly status: number } },
): NonNullable<FaultPlan['faults']>[number] {
  return { operation, requests: [request], what };
}
