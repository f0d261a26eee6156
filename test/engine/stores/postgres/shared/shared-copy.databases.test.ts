import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { SharedRunStatus } from '../../../../../src/engine/stores/shared/shared-status.js';
import type { Service } from '../../../../../src/service/index.js';
import { runInProcess } from '../../../../cli/harness/run-in-process.js';
import { startSluice, type Running } from '../../../../cli/harness/run-sluice.js';
import { withService, withFolder, paidAddresses } from '../../../../service/with-service.js';
import { askPostgres } from '../../../../lists/sql/postgres/ask-postgres.js';
import { postgres } from '../../../../lists/sql/postgres/postgres-database.js';
import { newName } from '../../../../lists/sql/harness/new-name.js';
import { eventsOf } from '../../../../cli/harness/logged-events.js';

vi.setConfig({ testTimeout: 180_000 });

const addresses = 100;
const emails = Array.from({ length: addresses }, (_, index) => `good${index}@sluice.test`);

let cwd: string;
let service: Service;
let run: string;
let table: string;
beforeEach(async () => {
  cwd = await withFolder();
  ({ service } = await withService({ apiKey: 'a-key', verifyDelayMs: 200 }));
  run = newName();
  table = newName();
  await askPostgres(`CREATE TABLE ${table} AS SELECT unnest($1::text[]) AS email`, [emails]);
  onTestFinished(async () => void (await askPostgres(`DROP TABLE ${table}`)));
});

function place() {
  const env = {
    SLUICE_BASE_URL: service.baseUrl,
    SLUICE_API_KEY: 'a-key',
    SLUICE_STORE: inject('postgresUrl'),
  };
  return { cwd, env };
}

const shared = () => ['--store', 'env:SLUICE_STORE', '--run', run];

function verifying(...args: readonly string[]): readonly string[] {
  const columns = ['--email', 'email', '--country', 'US', '--batch-size', '5', '-o', 'out.csv'];
  return ['verify', ...args, ...columns, '--poll-interval', '20', ...shared()];
}

function reading(query: string, ...args: readonly string[]): readonly string[] {
  return verifying('env:SLUICE_STORE', '--query', query, ...args);
}

function work(query: string, ...args: readonly string[]): Running {
  return startSluice(reading(query, ...args), place());
}

/** Gives each process its own rows. */
const odd = () => `select pg_backend_pid() as reader, email from ${table} order by random()`;
/** The same, once nobody holds the lock of this run. */
const held = () =>
  `select pg_backend_pid() as reader, email, pg_advisory_xact_lock_shared(hashtext('${run}'))::text as slept from ${table} order by random()`;

async function expectPaidOnce(): Promise<void> {
  const paid = await paidAddresses(service);
  expect(paid.toSorted()).toEqual(emails.toSorted());
}

async function copies(): Promise<unknown> {
  const [found] = await askPostgres(
    'SELECT count(*)::int AS parts FROM sluice.copy WHERE run = $1',
    [run],
  );
  return found?.['parts'];
}

describe('sluice verify with a store and an input that is read once', () => {
  it('reads the query once for all processes, and keeps no copy', async () => {
    const ends = await Promise.all(
      [work(odd()), work(odd()), work(odd())].map(async (each) => each.ended),
    );
    for (const { code, stderr } of ends) expect({ code, stderr }).toMatchObject({ code: 0 });
    const rows = (await readFile(join(cwd, 'out.csv'), 'utf8')).trim().split('\n').slice(1);
    expect(rows.map((row) => row.split(',')[1] ?? '').toSorted()).toEqual(emails.toSorted());
    expect(new Set(rows.map((row) => row.split(',')[0])).size).toBe(1);
    await expectPaidOnce();
    expect(await copies()).toBe(0);
    expect(await work(odd()).ended).toMatchObject({ code: 0 });
    await expectPaidOnce();
  });

  it('has another process begin again when the one that copies is killed', async () => {
    const lock = await postgres.server?.openSession();
    await lock?.query(`select pg_advisory_xact_lock(hashtext('${run}'))`);
    const first = work(held(), '--lease', '3');
    const status = async () => {
      const { stdout } = await runInProcess(['status', ...shared(), '--json'], place());
      return JSON.parse(stdout.toString() || '{}') as Partial<SharedRunStatus>;
    };
    await expect.poll(status).toMatchObject({
      state: 'reading',
      workers: [{ batches: ['copy'] }],
    });
    first.child.kill('SIGKILL');
    const others = [work(held(), '--lease', '3', '--workers', '2'), work(held(), '--lease', '3')];
    await lock?.end();
    for (const other of others) expect(await other.ended).toMatchObject({ code: 0 });
    await expectPaidOnce();
    expect(await copies()).toBe(0);
  });

  it('copies what a pipe gives, and refuses standard input and what is too large', async () => {
    await promisify(execFile)('mkfifo', [join(cwd, 'pipe.csv')]);
    const [one, two] = [verifying('pipe.csv'), verifying('pipe.csv')].map((args) =>
      startSluice(args, place()),
    );
    await writeFile(join(cwd, 'pipe.csv'), `email\n${emails.join('\n')}\n`);
    expect(await one?.ended).toMatchObject({ code: 0 });
    expect(await two?.ended).toMatchObject({ code: 0 });
    await expectPaidOnce();

    run = newName();
    const refused = [
      [verifying('-'), 'source'],
      [reading(odd(), '--copy-limit', '1KB'), '--copy-limit'],
      [reading(odd(), '--copy-limit', 'none'), '--copy-limit'],
      [
        ['verify', 'x.csv', '--email', 'e', '--country', 'US', '--copy-limit', '1GB'],
        '--copy-limit',
      ],
    ] as const;
    for (const [args, option] of refused) {
      const ended = await runInProcess(args, place());
      expect(ended.code).toBe(2);
      expect(eventsOf(ended, 'error')).toMatchObject([{ code: 'invalid_option', option }]);
    }
    await expectPaidOnce();
  });
});
