import pg from 'pg';
import { beforeEach, expect, inject, it, onTestFinished } from 'vitest';
import { postgresStore } from '../../../../src/engine/stores/postgres/postgres-store.js';
import type { SharedRunStore } from '../../../../src/engine/stores/run-store.js';
import { TestClock } from '../../../../src/testing/test-clock.js';
import { describeRunStore } from '../run-store-suite.js';
import { askPostgres } from '../../../lists/sql/postgres/ask-postgres.js';
import { newName } from '../../../lists/sql/harness/new-name.js';
import { planEntry } from '../example-entries.js';
import { batch, claimOne, runEntry } from './store-place.js';

/** What frozen processes have is recognized from what others have by the end of its lease. Neither ends by itself. */
const frozenLeaseMs = 60_000;
const leaseMs = 10 * frozenLeaseMs;
const { signal } = new AbortController();

let run: string;
beforeEach(() => {
  run = newName();
});

async function open(clock?: TestClock): Promise<SharedRunStore> {
  const options = { connectionString: inject('postgresUrl'), run };
  const store = postgresStore({ ...options, leaseMs: clock ? frozenLeaseMs : leaseMs });
  return store.open({ signal, ...(clock && { clock }) });
}

describeRunStore('PostgreSQL', {
  open: async () => open(),
  begin: async (store, ...begun) => store.begin(...begun),
  shared: {
    openFrozen: async () => open(new TestClock()),
    outlastClaims: async () => {
      await askPostgres(
        `UPDATE sluice.batch SET lease_until = clock_timestamp() WHERE run = $1
           AND lease_until < clock_timestamp() + $2 * interval '1 ms'`,
        [run, frozenLeaseMs],
      );
    },
  },
});

it('gives a batch to the next however often processes were lost later than a minute after their claim', async () => {
  for (let times = 0; times < 7; times += 1) {
    const store = await open(new TestClock());
    await store.begin(runEntry, planEntry);
    await claimOne(store, batch(0));
    await askPostgres(
      `UPDATE sluice.batch SET lease_until = clock_timestamp(),
         claimed_at = clock_timestamp() - $2 * interval '1 ms' WHERE run = $1 AND batch = '000001'`,
      [run, frozenLeaseMs + 61_000],
    );
  }
  const next = await open();
  expect(next.state.stopped).toBeUndefined();
  await next.remove();
});

it('is notified that the run is gone, where another removes it while this process gives a sign of life', async () => {
  const clock = new TestClock();
  const store = await open(clock);
  onTestFinished(async () => store.close());
  await store.begin(runEntry, planEntry);
  const other = new pg.Client({ connectionString: inject('postgresUrl') });
  await other.connect();
  onTestFinished(async () => other.end());
  await other.query('BEGIN');
  await other.query('DELETE FROM sluice.run WHERE run = $1', [run]);
  const { rows } = await other.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await clock.advance(frozenLeaseMs);
  await expect
    .poll(async () =>
      askPostgres('SELECT pid FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [
        rows[0]?.pid,
      ]),
    )
    .toHaveLength(1);
  await other.query('COMMIT');
  await expect.poll(() => store.state.run).toBeUndefined();
  expect(await store.claim([batch(0)])).toEqual([]);
});
