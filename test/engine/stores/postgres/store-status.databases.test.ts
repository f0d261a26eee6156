import { Readable } from 'node:stream';
import { beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import {
  findPostgresRuns,
  postgresStore,
  type PostgresStoreOptions,
} from '../../../../src/engine/stores/postgres/postgres-store.js';
import { readRunStatus } from '../../../../src/engine/runs/reporting/read-status.js';
import type { PlanEntry } from '../../../../src/engine/stores/journal-entries.js';
import type { SharedRunStore } from '../../../../src/engine/stores/run-store.js';
import type { SharedRunStatus } from '../../../../src/engine/stores/shared/shared-status.js';
import {
  SharedRows,
  type RunProgress,
} from '../../../../src/engine/runs/reporting/run-progress.js';
import { exampleSummary } from '../../../report/page/example-report.js';
import { askPostgres } from '../../../lists/sql/postgres/ask-postgres.js';
import { newName } from '../../../lists/sql/harness/new-name.js';
import { batch, claimOne, progress, runEntry } from './store-place.js';

const { signal } = new AbortController();
const plan: PlanEntry = {
  entry: 'plan',
  rows: 30,
  content: null,
  batches: [0, 1].map(() => ({
    type: 'email',
    country: 'US',
    addresses: 10,
    sizeBytes: 100,
    checksum: 0,
  })),
};

let schema: string;
beforeEach(() => {
  schema = newName();
  onTestFinished(async () => {
    await askPostgres(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  });
});

const connectionString = inject('postgresUrl');

function storeOf(run: string, options: Partial<PostgresStoreOptions> = {}) {
  return postgresStore({ connectionString, schema, run, ...options });
}

async function open(
  run: string,
  options: Partial<PostgresStoreOptions> & { readonly rows?: SharedRows } = {},
): Promise<SharedRunStore> {
  const { rows, ...others } = options;
  const store = await storeOf(run, others).open({ signal, ...(rows && { rows }) });
  onTestFinished(async () => store.close());
  return store;
}

async function statusOf(run: string): Promise<SharedRunStatus> {
  return readRunStatus(storeOf(run));
}

/** Waits until what its processes say of themselves is so. */
async function untilStatus(run: string, wanted: object): Promise<SharedRunStatus> {
  await expect.poll(async () => statusOf(run).catch(() => undefined)).toMatchObject(wanted);
  return statusOf(run);
}

describe('a store that is only looked at', () => {
  test('is not made by that, and has no run that nobody has begun', async () => {
    expect(await findPostgresRuns({ connectionString, schema })).toEqual([]);
    await expect(statusOf('none')).rejects.toMatchObject({
      message: expect.stringContaining('run "none"') as string,
    });
    expect(await askPostgres('SELECT to_regnamespace($1) AS made', [schema])).toEqual([
      { made: null },
    ]);
    const misspelt = await open('misspelt');
    await misspelt.close();
    expect(await findPostgresRuns({ connectionString, schema })).toEqual([]);
    await expect(statusOf('none')).rejects.toMatchObject({ code: 'invalid_option' });
  });

  test('tells of each run where it is, and of each process what it does', async () => {
    const received: RunProgress[] = [];
    const [writing, reading] = [
      new SharedRows(() => undefined),
      new SharedRows((each) => received.push(each)),
    ];
    const one = await open('a', { rows: writing });
    await untilStatus('a', { state: 'reading', rows: null, workers: [{ isAlive: true }] });
    await one.begin(runEntry, plan);
    const first = await claimOne(one, batch(0));
    await first.record(progress(batch(0), 'ready'));
    await first.reserve(100);
    await first.record(progress(batch(0), 'exported'));
    const second = await claimOne(one, batch(1));
    await second.reserve(100);
    await second.record(progress(batch(1), 'launching'));
    writing.note({ stage: 'read', rows: 30, addresses: 20, toSend: 20, batches: 2 });
    writing.note({ stage: 'writing', rows: 7 });
    const other = await open('a', { rows: reading });
    const status = await untilStatus('a', {
      run: 'a',
      state: 'working',
      stopped: null,
      rows: 30,
      batches: 2,
      done: 1,
      running: 1,
      launchedCredits: { email: 20 },
      workers: [
        {
          pid: process.pid,
          isAlive: true,
          batches: ['000002'],
          figures: { rowsRead: 30, rowsWritten: 7, batchesDone: 1, addressesDone: 10 },
        },
        { isAlive: true, batches: [], figures: { rowsRead: 0 } },
      ],
    });
    for (const { silentSeconds } of status.workers) expect(silentSeconds).toBeLessThan(30);
    // The process that writes nothing hears of the rows that are written.
    await expect.poll(() => received).toEqual([{ stage: 'writing', rows: 7 }]);
    await other.close();

    await one.record({
      entry: 'stopped',
      code: 'payment_required',
      message: 'none left',
      at: '2026-01-01T00:00:00.000Z',
    });
    expect(await statusOf('a')).toMatchObject({
      state: 'stopped',
      stopped: { code: 'payment_required', message: 'none left' },
    });
    await one.record({ entry: 'resumed' });
    await one.close();
    expect(await statusOf('a')).toMatchObject({ state: 'idle', workers: [] });

    const two = await open('b');
    await two.begin(runEntry, plan);
    await (await two.claimOutput())?.finish(exampleSummary());
    await two.clear();
    const { rows, batches } = exampleSummary();
    const found = await findPostgresRuns({ connectionString, schema });
    expect(found).toMatchObject([
      { run: 'b', status: { state: 'finished', rows, batches: batches.length, isFinished: true } },
      { run: 'a', status: { state: 'idle', done: 1 } },
    ]);
  });

  test('tells by its own clock who is alive, and forgets the dead with the run', async () => {
    const one = await open('a', { leaseMs: 600_000 });
    await one.begin(runEntry, plan);
    await claimOne(one, batch(0));
    await untilStatus('a', { state: 'working', workers: [{ isAlive: true, batches: ['000001'] }] });
    await askPostgres(
      `INSERT INTO ${schema}.worker (run, worker, host, pid, beat_at, alive_until, figures)
       VALUES ('a', gen_random_uuid(), 'gone', 1, clock_timestamp() - interval '90 s',
         clock_timestamp() - interval '60 s', '{"rowsWritten": 99}')`,
    );
    const { workers } = await statusOf('a');
    expect(workers.find(({ host }) => host === 'gone')).toMatchObject({
      isAlive: false,
      silentSeconds: expect.toSatisfy((seconds: number) => seconds > 89 && seconds < 300) as number,
    });
    await (await one.claimOutput())?.finish(exampleSummary());
    await one.clear();
    const left = await statusOf('a');
    expect(left.workers.filter(({ host }) => host === 'gone')).toEqual([]);
  });

  test('names a run that says nothing, and tells of the others', async () => {
    const one = await open('good');
    await one.begin(runEntry, plan);
    const two = await open('bad');
    await two.begin(runEntry, plan);
    await askPostgres(`UPDATE ${schema}.journal SET entry = '{"entry": "new"}' WHERE run = 'bad'`);
    expect(await findPostgresRuns({ connectionString, schema })).toMatchObject([
      { run: 'bad', error: { code: 'state_damaged' } },
      { run: 'good', status: { state: expect.any(String) as string } },
    ]);
  });
});

test('a copy that is damaged is not believed', async () => {
  const one = await open('a');
  const bytes = Readable.from([Buffer.alloc(2 ** 20, 1), Buffer.from('the end')]);
  await (await one.copy.claim())?.write(bytes, 'list');
  await askPostgres(`UPDATE ${schema}.copy SET bytes = 'The end' WHERE part = 1`);
  const copy = await (await open('a')).copy.read();
  const read = async () => {
    for await (const piece of copy?.bytes ?? []) expect(piece.length).toBe(2 ** 20);
  };
  await expect(read()).rejects.toMatchObject({ code: 'state_damaged' });
});
