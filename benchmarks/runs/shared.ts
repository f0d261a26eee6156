import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { hashOfFile } from '../data/cached-file.js';
import { contactsFile, usualContacts } from '../data/contacts.js';
import type { Measured, Question, Scale, Task } from '../harness/question.js';
import { runCommand } from '../harness/run-command.js';
import { withScratch } from '../harness/scratch.js';
import { timed } from '../harness/seconds.js';
import { sluiceCommand } from '../harness/sluice-command.js';
import { withConnection, withPostgres } from '../harness/with-postgres.js';
import { withService } from '../harness/with-service.js';
import { expectedOutputHash } from '../reference/expected-output.js';
import { localEmailColumn } from '../reference/local-service-results.js';

const batchSize = 100;
const longestWaitMs = 120_000;
const batches = ({ name }: Scale): number => (name === 'full' ? 80 : 16);
const leaseSeconds = ({ name }: Scale): number => (name === 'full' ? 10 : 3);
const slowInput = async (scale: Scale): Promise<string> => {
  const rows = batches(scale) * batchSize;
  return contactsFile({ rows, unique: rows });
};
const largeInput = async ({ rows }: Scale): Promise<string> => contactsFile(usualContacts(rows));

/** Several processes on one run, whose store is in PostgreSQL, against one, and against a state directory. */
export const shared: Question = {
  asks: 'What do more workers bring, and what does a shared store cost?',
  rounds: 3,
  async prepare(scale) {
    await slowInput(scale);
    await largeInput(scale);
  },
  tasks: {
    'reference, slow': reference('slow', slowInput),
    'reference, large': reference('large', largeInput),
    '1 worker': { checkedAs: 'slow', run: async (scale) => slowly(scale, 1) },
    '4 workers': { checkedAs: 'slow', run: async (scale) => slowly(scale, 4) },
    'state directory': {
      checkedAs: 'large',
      run: async (scale) =>
        withPlace([], async (place) => {
          const args = argsOf(await largeInput(scale), place);
          const run = await runCommand(sluiceCommand, args, place);
          return measured(place, { seconds: run.seconds, peakBytes: run.peakBytes });
        }),
    },
    store: {
      checkedAs: 'large',
      run: async (scale) =>
        withStore([], async (place) => {
          const args = [...argsOf(await largeInput(scale), place), ...place.storeArgs];
          const run = await runCommand(sluiceCommand, args, place);
          return measured(place, { seconds: run.seconds, peakBytes: run.peakBytes });
        }),
    },
    'killed worker': { checkedAs: 'slow', run: takeOver },
  },
  figures: (median, scale) => [
    {
      what: `${batches(scale)} batches of ${batchSize}, parse and verify delays of ${parseMs(scale) / 1000} and ${verifyMs(scale) / 1000} s: 4 workers of concurrency 4`,
      against: '1 worker',
      value: median('1 worker', 'seconds') / median('4 workers', 'seconds'),
      unit: 'times as fast',
      target: { bound: 'at least', value: 3.6, aim: 3.8 },
    },
    {
      what: 'calls to the store, with 4 workers',
      against: '',
      value: median('4 workers', 'calls') / batches(scale),
      unit: 'a batch',
      target: { bound: 'at most', value: 30, aim: 20 },
    },
    {
      what: '1 worker with a store in PostgreSQL, emails, no delays',
      against: 'a state directory',
      value: median('store', 'seconds') / median('state directory', 'seconds'),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.5, aim: 1.15 },
    },
    {
      what: 'its peak memory',
      against: 'a state directory',
      value: median('store', 'peakBytes') / median('state directory', 'peakBytes'),
      unit: 'times',
      target: { bound: 'at most', value: 1.1, aim: 1 },
    },
    {
      what: `batches of a worker that was killed are taken over, lease ${leaseSeconds(scale)} s, after`,
      against: '',
      value: median('killed worker', 'seconds'),
      unit: 'seconds',
      target: { bound: 'at most', value: leaseSeconds(scale) + 2 },
    },
  ],
};

/** Where commands run. */
interface Place {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

interface StorePlace extends Place {
  readonly storeArgs: readonly string[];
  readonly client: pg.Client;
}

const parseMs = ({ delayMs }: Scale): number => delayMs / 2;
const verifyMs = ({ delayMs }: Scale): number => (delayMs * 3) / 2;

function reference(checkedAs: string, input: (scale: Scale) => Promise<string>): Task {
  return {
    checkedAs,
    isReference: true,
    run: async (scale) => ({
      check: await expectedOutputHash(await input(scale), [localEmailColumn]),
      values: {},
    }),
  };
}

async function slowly(scale: Scale, workers: number): Promise<Measured> {
  return withStore(delays(scale), async (place) => {
    const args = [...argsOf(await slowInput(scale), place), ...place.storeArgs, ...smallBatches];
    const before = await callsOf(place);
    const { seconds } = await timed(async () =>
      Promise.all(
        Array.from({ length: workers }, async (_, worker) => {
          const folder = join(place.folder, `worker-${worker}`);
          await mkdir(folder);
          await runCommand(sluiceCommand, args, { ...place, folder });
        }),
      ),
    );
    return measured(place, { seconds, calls: (await callsOf(place)) - before });
  });
}

const smallBatches = ['--batch-size', String(batchSize), '--concurrency', '4'];

function delays(scale: Scale): readonly string[] {
  const [parse, verify] = [String(parseMs(scale)), String(verifyMs(scale))];
  return ['--parse-delay', parse, '--verify-delay', verify];
}

/** One worker is killed while it has batches that the service verifies; another has none yet. */
async function takeOver(scale: Scale): Promise<Measured> {
  // Longer than another process takes to join.
  const verifyDelay = String(leaseSeconds(scale) * 3000);
  return withStore(['--verify-delay', verifyDelay], async (place) => {
    const lease = ['--lease', String(leaseSeconds(scale))];
    const few = ['--batch-size', String(batchSize), '--concurrency', String(batches(scale))];
    const args = [...argsOf(await slowInput(scale), place), ...place.storeArgs, ...few, ...lease];
    const environment = { ...process.env, ...place.environment };
    const path = fileURLToPath(new URL(sluiceCommand, import.meta.url));
    const killed = spawn(process.execPath, [path, ...args], { env: environment, stdio: 'ignore' });
    const ended = once(killed, 'close');
    await untilCounted(place, `entry->'state'->>'stage' = 'verifying'`, batches(scale));
    const next = runCommand(sluiceCommand, args, place);
    await untilCounted(place, 'true', 2, 'worker');
    const { rows } = await place.client.query<{ owner: string }>(
      `select distinct owner from sluice.batch where batch <> 'output'`,
    );
    killed.kill('SIGKILL');
    await ended;
    const { seconds } = await timed(async () =>
      untilCounted(
        place,
        `owner <> '${rows[0]?.owner}' and batch <> 'output'`,
        batches(scale),
        'batch',
      ),
    );
    await next;
    return measured(place, { seconds });
  });
}

async function untilCounted(
  { client }: StorePlace,
  condition: string,
  count: number,
  table = 'journal',
): Promise<void> {
  const endsAt = performance.now() + longestWaitMs;
  while (performance.now() < endsAt) {
    const counting = `select count(*)::int as count from sluice.${table} where ${condition}`;
    const { rows } = await client
      .query<{ count: number }>(counting)
      // The schema is made by the first worker.
      .catch(() => ({ rows: [] }));
    if ((rows[0]?.count ?? 0) >= count) return;
    await wait(20);
  }
  throw new Error(`sluice.${table} has not ${count} rows in which ${condition}`);
}

/** Each call is a transaction. */
async function callsOf({ client }: StorePlace): Promise<number> {
  // Sessions tell what they have done when they end, or after a second.
  await wait(1500);
  const { rows } = await client.query<{ calls: string }>(
    'select xact_commit as calls from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.calls);
}

function argsOf(input: string, { folder }: Place): readonly string[] {
  const output = ['-o', join(folder, 'output.csv'), '--state', join(folder, 'state')];
  return ['verify', input, ...output, '--email', 'email', '--country', 'US'];
}

async function measured(
  { folder }: Place,
  values: Readonly<Record<string, number>>,
): Promise<Measured> {
  return { check: await hashOfFile(join(folder, 'output.csv')), values };
}

async function withPlace<T>(
  serviceArgs: readonly string[],
  work: (place: Place) => Promise<T>,
): Promise<T> {
  return withScratch(async (folder) =>
    withService(['--data', join(folder, 'service'), ...serviceArgs], async (environment) =>
      work({ folder, environment: { ...environment } }),
    ),
  );
}

/** With a new server, which syncs what it commits. */
async function withStore<T>(
  serviceArgs: readonly string[],
  work: (place: StorePlace) => Promise<T>,
): Promise<T> {
  return withPlace(serviceArgs, async ({ folder, environment }) =>
    withPostgres(
      async (url) =>
        withConnection(url, async (client) =>
          work({
            folder,
            environment: { ...environment, STORE: url },
            storeArgs: ['--store', 'env:STORE', '--run', 'benchmark'],
            client,
          }),
        ),
      { syncs: true },
    ),
  );
}
