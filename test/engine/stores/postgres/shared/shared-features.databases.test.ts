import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import {
  Client,
  fileSink,
  History,
  partsSink,
  run,
  splitSink,
  streamRun,
  verdictFolder,
  type Preflight,
  type RunOptions,
  type RunProgress,
  type SharedStore,
  type Sink,
  type Summary,
} from '../../../../../src/index.js';
import type { Service, ServiceOptions } from '../../../../../src/service/index.js';
import { postgresSink, postgresStore } from '../../../../../src/lists/sql/postgres/index.js';
import { caught, openClient } from '../../../../client/test-client.js';
import {
  ServiceClock,
  withFolder,
  withService,
  paidAddresses,
} from '../../../../service/with-service.js';
import type { Given } from '../../../../platform/given.js';
import { newName } from '../../../../lists/sql/harness/new-name.js';
import { askPostgres } from '../../../../lists/sql/postgres/ask-postgres.js';

const addresses = 40;
const words = ['good', 'bad', 'unknown', 'risky'];
const list = [
  'id,email',
  ...Array.from({ length: addresses }, (_, at) => `${at},${words[at % 4]}${at}@sluice.test`),
  `${addresses},good0@sluice.test`,
  '',
].join('\n');

let folder: string;
let service: Service;
/** The run that the test is about, as one more process finds it. */
let storeOf: () => SharedStore;
beforeEach(async () => {
  folder = await withFolder();
  await writeFile(join(folder, 'list.csv'), list);
  storeOf = newStore();
});

/** Names a run that there is none of; what it gives finds it again and again. */
function newStore(): () => SharedStore {
  const name = newName();
  return () => postgresStore({ connectionString: inject('postgresUrl'), run: name, leaseMs: 3000 });
}

async function serve(changes: ServiceOptions = {}): Promise<void> {
  ({ service } = await withService({ verifyDelayMs: 5, apiKey: 'a-key', ...changes }));
}

/** Two batches break once they are launched, the second and the fifth. */
async function serveWithBroken(): Promise<void> {
  const what = { batch: 'internal_error' } as const;
  await serve({
    faults: { faults: [{ operation: 'launchBatch', requests: [2, 5], when: 'after', what }] },
  });
}

/** @param changes where the run keeps its state among them */
function given(
  changes: Given<RunOptions> & ({ readonly store: SharedStore } | { readonly stateDir: string }),
): RunOptions {
  const client = openClient({ baseUrl: service.baseUrl, apiKey: 'a-key' });
  const ends = { source: join(folder, 'list.csv'), sink: join(folder, 'out.csv') };
  const pace = { batchSize: 5, concurrency: 2, pollIntervalMs: 50 };
  return { client, email: ['email'], country: 'US', ...ends, ...pace, ...changes };
}

/** What one process of a run does, with a connection, a client and a folder of its own. */
async function work(changes: Given<RunOptions> = {}): Promise<Summary> {
  return run(given({ ...changes, store: storeOf() }));
}

/** The ends of processes that all have the run open before any of them goes on: none comes when all is done. */
function together(count: number, changes: Given<RunOptions> = {}): readonly Promise<Summary>[] {
  let opened = 0;
  let goOn = (): void => undefined;
  const allOpen = new Promise<void>((resolve) => (goOn = resolve));
  return Array.from({ length: count }, async () => {
    const store = storeOf();
    const open: SharedStore['open'] = async (options) => {
      const held = await store.open(options);
      opened += 1;
      if (opened === count) goOn();
      await allOpen;
      return held;
    };
    return run(given({ ...changes, store: { ...store, open } }));
  });
}

/** What a run with a state directory does, on a service of its own. */
async function workAlone(changes: Given<RunOptions>): Promise<Summary> {
  const before = service;
  await serve();
  try {
    return await run(given({ stateDir: join(folder, 'state'), ...changes }));
  } finally {
    service = before;
  }
}

async function expectPaidOnce(count = addresses): Promise<void> {
  const paid = await paidAddresses(service);
  expect(new Set(paid).size).toBe(paid.length);
  expect(paid).toHaveLength(count);
}

async function filesIn(path: string): Promise<Readonly<Record<string, string>>> {
  const names = await readdir(path);
  return Object.fromEntries(
    await Promise.all(
      names.map(async (file) => [file, await readFile(join(path, file), 'utf8')] as const),
    ),
  );
}

// What a run has beside its plain form also works where processes share it.
describe('a run that processes share in PostgreSQL', () => {
  const outputs: readonly (readonly [string, (folder: string) => Sink])[] = [
    ['a file for each verdict', (to) => verdictFolder(join(to, 'verdicts'), { ending: 'csv' })],
    ['parts', (to) => partsSink(join(to, 'parts'), { partBytes: 1_000_000, format: 'csv' })],
    [
      'the rows that are kept, and the others',
      (to) =>
        splitSink({
          output: fileSink(join(to, 'valid.csv')),
          rejects: fileSink(join(to, 'others.csv')),
          keep: { verdicts: ['valid'] },
        }),
    ],
  ];
  it.each(outputs)('writes %s once, as a run with a state directory does', async (_, sinkIn) => {
    await serve();
    const [shared, alone] = [await withFolder(), await withFolder()];
    const summaries = await Promise.all(together(3, { sink: sinkIn(shared) }));
    for (const summary of summaries) expect(summary).toEqual(summaries[0]);
    await expectPaidOnce();
    await workAlone({ sink: sinkIn(alone) });
    const [made] = await readdir(shared);
    const inner = made?.endsWith('.csv') === true ? '' : (made ?? '');
    expect(await filesIn(join(shared, inner))).toEqual(await filesIn(join(alone, inner)));
  });

  it('lets a stream with its history launch nothing that it may launch, or has', async () => {
    await serve();
    const openHistory = async (): Promise<History> =>
      History.open({ path: join(folder, 'history'), service: service.baseUrl });
    const stream = async (): Promise<Summary> => {
      const history = await openHistory();
      const { source, client } = given({ store: storeOf() }) as {
        source: string;
        client: Client;
      };
      const ends = { source, sink: join(folder, 'stream.csv') };
      try {
        return await streamRun({ ...ends, client, history, email: ['email'], country: 'US' });
      } finally {
        await history.close();
      }
    };
    const killed = new AbortController();
    const onProgress: RunOptions['onProgress'] = (progress) => {
      if (progress.stage !== 'batch' || progress.state.stage !== 'verifying') return;
      killed.abort(new Error('ended'));
    };
    const ended = work({ openHistory, onProgress, signal: killed.signal });
    await expect(ended).rejects.toThrow('ended');
    const before = await paidAddresses(service);
    // Without the history, its lock shows a process at work.
    let refused: unknown;
    const onPrepared = async (): Promise<boolean> => {
      refused = await caught(stream());
      return false;
    };
    await caught(work({ onPrepared }));
    expect(refused).toMatchObject({ code: 'state_locked' });
    expect(await paidAddresses(service)).toEqual(before);
    await stream();
    await expectPaidOnce();
  });

  it('asks a history once for all, pays for what it lacks, and gives it the results once', async () => {
    await serve();
    const path = join(folder, 'history');
    const openHistory = async (): Promise<History> =>
      History.open({ path, service: service.baseUrl });
    const half = list.split('\n').slice(0, 1 + addresses / 2);
    await writeFile(join(folder, 'half.csv'), `${half.join('\n')}\n`);
    const night = { source: join(folder, 'half.csv'), sink: join(folder, 'half-out.csv') };
    const first = await Promise.all(together(2, { ...night, openHistory }));
    expect(first[0]?.compared?.runs).toEqual([]);
    await expectPaidOnce(addresses / 2);

    storeOf = newStore();
    const killed = new AbortController();
    const onProgress: RunOptions['onProgress'] = (progress) => {
      if (progress.stage === 'batch' && progress.state.stage === 'verifying') {
        killed.abort(new Error('ended'));
      }
    };
    const ended = work({ openHistory, onProgress, signal: killed.signal });
    await expect(ended).rejects.toThrow('ended');
    const reported = new AbortController();
    const onNotice: RunOptions['onProgress'] = (progress) => {
      if (progress.stage === 'notice' && progress.code === 'history_left_out')
        reported.abort(new Error('told'));
    };
    await expect(work({ onProgress: onNotice, signal: reported.signal })).rejects.toThrow('told');
    // Whatever becomes of the history, the batches are planned: it is not asked again.
    await rm(path);
    const late = await History.open({ path: join(folder, 'late'), service: service.baseUrl });
    await late.close();
    const again = async (): Promise<History> =>
      History.open({ path: join(folder, 'late'), service: service.baseUrl });
    const summaries = await Promise.all(together(3, { openHistory: again }));
    await expectPaidOnce();
    for (const summary of summaries) expect(summary).toEqual(summaries[0]);
    expect(summaries[0]?.email).toMatchObject({ from_history: addresses / 2 });
    const kept = await again();
    // What the batches of this run came to, each address once.
    expect(kept.size).toBe(addresses / 2);
    await kept.close();
    await workAlone({ sink: join(folder, 'alone.csv') });
    const [shared, alone] = await Promise.all(
      ['out.csv', 'alone.csv'].map(async (name) => readFile(join(folder, name), 'utf8')),
    );
    expect(shared).toBe(alone);
  });

  it('sends again what failed when that is asked for, once for all, and only then', async () => {
    await serveWithBroken();
    const failed = await Promise.all(together(2));
    // Of one of their addresses there may be two rows.
    expect(failed[0]?.batches.filter(({ stage }) => stage === 'failed')).toHaveLength(2);
    expect(failed[1]).toEqual(failed[0]);
    const before = await paidAddresses(service);
    expect(await work()).toEqual({ ...failed[0], already_finished: true });
    expect(await paidAddresses(service)).toEqual(before);

    const again = await Promise.all(together(3, { retryFailed: true }));
    for (const { already_finished: _, ...summary } of again) {
      // Whoever comes last may find all done.
      expect(again[0]).toMatchObject(summary);
      expect(summary.email?.buckets.failed).toBe(0);
    }
    const paid = await paidAddresses(service);
    expect(paid).toHaveLength(before.length + 10);
    expect(new Set(paid).size).toBe(addresses);
    await workAlone({ sink: join(folder, 'alone.csv') });
    expect(await readFile(join(folder, 'out.csv'))).toEqual(
      await readFile(join(folder, 'alone.csv')),
    );
    const reports = { ...again[0], already_finished: true };
    expect(await work({ retryFailed: true })).toEqual(reports);
    expect(await paidAddresses(service)).toEqual(paid);
  });

  it('goes on with what is sent again when the one that asked is gone', async () => {
    await serveWithBroken();
    await work();
    const before = await paidAddresses(service);
    const ended = new AbortController();
    const onProgress: RunOptions['onProgress'] = (progress) => {
      const isAgain = progress.stage === 'batch' && progress.state.stage === 'uploading';
      if (isAgain) ended.abort(new Error('ended'));
    };
    const asking = work({ retryFailed: true, onProgress, signal: ended.signal });
    await expect(asking).rejects.toThrow('ended');
    const summaries = await Promise.all(together(2));
    for (const summary of summaries) expect(summary.email?.buckets.failed).toBe(0);
    expect(await paidAddresses(service)).toHaveLength(before.length + 10);
  });

  it('asks once for all before anything is launched, and launches nothing where the answer is no', async () => {
    await serve();
    const asked: (number | undefined)[] = [];
    const answer = (isYes: boolean) => ({
      onPrepared: async ({ email }: Preflight) => {
        asked.push(email?.batches);
        expect(await paidAddresses(service)).toEqual([]);
        return isYes;
      },
    });
    const refused = await Promise.allSettled(together(3, answer(false)));
    for (const end of refused) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'detached' } });
    }
    expect(asked).toEqual([addresses / 5]);
    const summaries = await Promise.all(together(3, answer(true)));
    for (const summary of summaries) expect(summary).toEqual(summaries[0]);
    expect(asked).toEqual([addresses / 5, addresses / 5]);
    await expectPaidOnce();
  });

  it('has another process ask where the one that asked is gone', async () => {
    await serve();
    const gone = new AbortController();
    let asked = 0;
    const onPrepared = async (): Promise<boolean> => {
      asked += 1;
      return true;
    };
    let others: readonly Promise<Summary>[] = [];
    const asking = work({
      signal: gone.signal,
      onPrepared: async () => {
        await new Promise<void>((resolve) => {
          let begun = 0;
          const onProgress: RunOptions['onProgress'] = ({ stage }) => {
            if (stage === 'read') begun += 1;
            if (begun === 2) resolve();
          };
          others = together(2, { onPrepared, onProgress });
        });
        gone.abort(new Error('ended'));
        gone.signal.throwIfAborted();
        return true;
      },
    });
    await expect(asking).rejects.toThrow('ended');
    await Promise.all(others);
    expect(asked).toBe(1);
    await expectPaidOnce();
  });

  it('launches everything and leaves, and collects when called again', async () => {
    const time = new ServiceClock();
    await serve({ clock: time, verifyDelayMs: 1000 });
    const left = await Promise.allSettled(together(3, { detach: true }));
    for (const end of left) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'detached' } });
    }
    await expectPaidOnce();
    await time.run();
    const summaries = await Promise.all(together(2, { detach: true }));
    expect(summaries[1]).toEqual(summaries[0]);
    expect(summaries[0]?.rows).toBe(addresses + 1);
    await expectPaidOnce();
  });

  it('writes what there is where it stops for the money, and completes it when called again', async () => {
    await serve();
    const partial = { partial: true, maxCredits: 20 };
    const stopped = await Promise.all(together(3, partial));
    for (const { email, rows } of stopped) {
      expect(rows).toBe(addresses + 1);
      expect(email?.buckets.failed).toBeGreaterThanOrEqual(addresses / 2);
    }
    // Whoever ends last writes all that there is.
    const written = await readFile(join(folder, 'out.csv'), 'utf8');
    expect(written.match(/,verified,/g)).toHaveLength(21);
    await expectPaidOnce(20);
    const summaries = await Promise.all(together(2, { partial: true }));
    for (const summary of summaries) expect(summary.email?.buckets.failed).toBe(0);
    await expectPaidOnce();
    await workAlone({ sink: join(folder, 'alone.csv') });
    expect(await readFile(join(folder, 'out.csv'))).toEqual(
      await readFile(join(folder, 'alone.csv')),
    );
  });

  it('keeps to the budget that the newest process was notified of, and tells all whose it is not', async () => {
    await serve();
    const reported: RunProgress[][] = [[], [], []];
    const notes =
      (to: number, read?: () => void): NonNullable<RunOptions['onProgress']> =>
      (progress) => {
        if (progress.stage === 'notice') reported[to]?.push(progress);
        if (progress.stage === 'read') read?.();
      };
    const onPrepared = async (): Promise<boolean> => true;
    let others: readonly Promise<unknown>[] = [];
    const first = work({
      maxCredits: 30,
      onProgress: notes(0),
      // Others come while it has launched nothing yet.
      onPrepared: async () => {
        others = [];
        for (const [at, maxCredits] of [[1, 20] as const, [2, undefined] as const]) {
          await new Promise<void>((read) => {
            const joining = { onPrepared, onProgress: notes(at, read) };
            others = [...others, caught(work({ ...joining, ...(maxCredits && { maxCredits }) }))];
          });
        }
        return true;
      },
    });
    await expect(first).rejects.toMatchObject({ code: 'budget_exhausted' });
    for (const error of await Promise.all(others)) {
      expect(error).toMatchObject({ code: 'budget_exhausted' });
    }
    await expectPaidOnce(20);
    const elsewhere = { code: 'max_credits_changed_elsewhere', fields: { most: 20 } };
    const here = { most: 20, before: 30 };
    expect(reported[0]).toContainEqual(expect.objectContaining(elsewhere));
    expect(reported[1]).toContainEqual(
      expect.objectContaining({ fields: expect.objectContaining(here) as unknown }),
    );
    expect(reported[2]).toContainEqual(expect.objectContaining(elsewhere));

    await expect(work({ maxCredits: 25 })).rejects.toMatchObject({ code: 'budget_exhausted' });
    await expectPaidOnce(25);
    // A process that is reported nothing goes on without the budget that has stopped the run.
    await Promise.all(together(2));
    await expectPaidOnce();
  });

  it('leaves the output alone where too much is unknown', async () => {
    await serve();
    await writeFile(join(folder, 'out.csv'), 'of another night');
    const maxUnknown = { percent: 1, suspect: join(folder, 'suspect.csv') };
    const summaries = await Promise.all(together(3, { maxUnknown }));
    for (const summary of summaries) expect(summary).toMatchObject({ suspect: true });
    expect(await readFile(join(folder, 'out.csv'), 'utf8')).toBe('of another night');
    expect(await work({ maxUnknown })).toEqual({ ...summaries[0], already_finished: true });
    await expectPaidOnce();
    await workAlone({ sink: join(folder, 'alone.csv') });
    expect(await readFile(join(folder, 'suspect.csv'))).toEqual(
      await readFile(join(folder, 'alone.csv')),
    );
  });

  it('says of each cell which batch verified it, and deletes the batches once', async () => {
    await serve();
    const asked = { provenance: true, deleteBatches: true };
    const [summary] = await Promise.all(together(3, asked));
    await expectPaidOnce();
    const rows = (await readFile(join(folder, 'out.csv'), 'utf8')).trim().split('\n').slice(1);
    const uuids = summary?.batches.map(({ batch_uuid }) => batch_uuid) ?? [];
    for (const row of rows) expect(uuids).toContain(row.split(',').at(-1));
    const client = new Client({ baseUrl: service.baseUrl, apiKey: 'a-key' });
    expect(await client.listBatches()).toEqual([]);
    await client.close();
  });

  it('writes the rows of a table by their key once', async () => {
    await serve();
    const [into, alone] = [newName(), newName()];
    const sinkInto = (table: string): Sink =>
      postgresSink({ url: inject('postgresUrl'), into: table, key: 'id' });
    await Promise.all(together(3, { sink: sinkInto(into) }));
    await expectPaidOnce();
    await workAlone({ sink: sinkInto(alone) });
    const rowsOf = async (table: string) => askPostgres(`select * from ${table} order by id::int`);
    expect(await rowsOf(into)).toEqual(await rowsOf(alone));
  });
});
