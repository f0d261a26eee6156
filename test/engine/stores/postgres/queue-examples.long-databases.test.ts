import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import PgBoss from 'pg-boss';
import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { chargesOf } from '../../../cli/harness/charges.js';
import { csvRows } from '../../../cli/harness/csv-cells.js';
import { startScript, type ScriptEnd } from '../../../cli/harness/run-script.js';
import { startRedis } from '../../../servers/start-redis.js';
import type { Service } from '../../../../src/service/index.js';
import { withService, withFolder } from '../../../service/with-service.js';
import { askPostgres } from '../../../lists/sql/postgres/ask-postgres.js';
import { newName } from '../../../lists/sql/harness/new-name.js';

vi.setConfig({ testTimeout: 180_000 });

const queues = new URL('../../../../examples/queues/', import.meta.url);
const addresses = 60;

let folder: string;
let service: Service;
let env: Record<string, string>;
beforeEach(async () => {
  folder = await withFolder();
  // A database of its own: a queue's name is the same in each.
  const database = newName();
  await askPostgres(`CREATE DATABASE ${database}`);
  const store = new URL(inject('postgresUrl'));
  store.pathname = `/${database}`;
  ({ service } = await withService({ apiKey: 'a-key', verifyDelayMs: 3000 }));
  env = { SLUICE_BASE_URL: service.baseUrl, SLUICE_API_KEY: 'a-key', SLUICE_STORE: store.href };
});

async function writeList(name: string): Promise<void> {
  const lines = Array.from(
    { length: addresses },
    (_, at) => `${at},good${at}-${name}@sluice.test\n`,
  );
  await writeFile(join(folder, `${name}.csv`), `id,email\n${lines.join('')}`);
}

const start = async (example: string, ...args: readonly string[]) =>
  startScript(new URL(example, queues), args, { folder, env });

async function ask(example: string, ...args: readonly string[]): Promise<void> {
  const { ended } = await start(example, ...args);
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
}

/** How many jobs of a queue are in a state. */
type Counted = (state: 'completed' | 'failed') => Promise<number>;

async function expectCount(count: Counted, state: 'completed' | 'failed', jobs: number) {
  await vi.waitFor(async () => expect(await count(state)).toBe(jobs), {
    timeout: 120_000,
    interval: 200,
  });
}

/** Three workers take four jobs of two lists; the first is killed while it works. */
async function shareTwoLists(example: string, count: Counted, completed: number): Promise<void> {
  for (const name of ['one', 'two']) {
    await writeList(name);
    await ask(example, `${name}.csv`, `${name}.out.csv`, '2');
  }
  // Alone at first: it has a job for certain when it is killed.
  const killed = await start(example);
  await vi.waitFor(async () => expect((await chargesOf(service)).length).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 50,
  });
  killed.child.kill('SIGKILL');
  const others = await Promise.all([1, 2].map(async () => start(example)));
  await expectCount(count, 'completed', completed);
  const ends: ScriptEnd[] = [];
  for (const { child, ended } of others) {
    child.kill('SIGTERM');
    ends.push(await ended);
  }
  for (const end of ends) expect(end).toMatchObject({ code: 0, stderr: '' });
  const paid = (await chargesOf(service)).map(({ address }) => address);
  expect(new Set(paid).size).toBe(2 * addresses);
  expect(paid).toHaveLength(2 * addresses);
  for (const name of ['one', 'two']) {
    const rows = csvRows(await readFile(join(folder, `${name}.out.csv`)));
    expect(rows.map(({ email_valid: valid }) => valid)).toEqual(Array(addresses).fill('true'));
  }
}

/** A list that is not there needs a person. */
async function askForNothing(example: string, count: Counted): Promise<void> {
  await ask(example, 'missing.csv', 'out.csv');
  const { child, ended } = await start(example);
  await expectCount(count, 'failed', 1);
  child.kill('SIGTERM');
  expect((await ended).stderr).toContain('missing.csv');
  expect(await chargesOf(service)).toEqual([]);
}

describe('examples/queues/pg-boss.ts', () => {
  async function counter(): Promise<Counted> {
    const boss = new PgBoss({ connectionString: env['SLUICE_STORE'] ?? '', supervise: false });
    await boss.start();
    onTestFinished(() => boss.stop());
    return async (state) => {
      const wanted = state === 'failed' ? 'cancelled' : state;
      const { rows } = await boss
        .getDb()
        .executeSql(
          `SELECT count(*)::int AS jobs FROM pgboss.job WHERE name = 'lists' AND state = $1`,
          [wanted],
        );
      return (rows as { readonly jobs: number }[])[0]?.jobs ?? 0;
    };
  }

  it('has lists verified by several workers, of which one is killed', async () => {
    // The killed worker's job expires in some hours.
    await shareTwoLists('pg-boss.ts', await counter(), 3);
  });

  it('keeps a job for a person where another try would end the same way', async () => {
    await askForNothing('pg-boss.ts', await counter());
  });
});

describe('examples/queues/bullmq.ts', () => {
  async function counter(): Promise<Counted> {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    env['REDIS_URL'] = redis.url;
    const queue = new Queue('lists', { connection: { url: redis.url } });
    onTestFinished(() => queue.close());
    return async (state) => (await queue.getJobCounts(state))[state] ?? 0;
  }

  it('has lists verified by several workers, of which one is killed', async () => {
    await shareTwoLists('bullmq.ts', await counter(), 4);
  });

  it('keeps a job for a person where another try would end the same way', async () => {
    await askForNothing('bullmq.ts', await counter());
  });
});

it('runs every example of a queue', async () => {
  expect((await readdir(queues)).toSorted()).toEqual(['bullmq.ts', 'pg-boss.ts']);
});
