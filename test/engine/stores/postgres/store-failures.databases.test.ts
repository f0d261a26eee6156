import pg from 'pg';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { ClaimRevokedError } from '../../../../src/engine/batches/claim.js';
import type { RunClaim } from '../../../../src/engine/stores/run-store.js';
import {
  findPostgresRuns,
  postgresStore,
} from '../../../../src/engine/stores/postgres/postgres-store.js';
import { StoreConnection } from '../../../../src/engine/stores/postgres/store-connection.js';
import { createTestClock } from '../../../../src/testing/test-clock.js';
import { startCountingProxy } from '../../../lists/sql/harness/counting-proxy.js';
import { startPostgres } from '../../../servers/start-postgres.js';
import { expectExit, rejection } from '../../../lists/sql/harness/rejection.js';
import { askPostgres } from '../../../lists/sql/postgres/ask-postgres.js';
import { newName } from '../../../lists/sql/harness/new-name.js';
import { planEntry } from '../example-entries.js';
import { batch, claimOne, openStore, progress, runEntry, stages } from './store-place.js';

/** A server of one test, which may be killed. */
async function startServer() {
  const server = await startPostgres();
  onTestFinished(async () => server.stop());
  const options = { connectionString: server.url, run: newName(), leaseMs: 60_000 };
  const open = async () => {
    const store = await openStore(options);
    onTestFinished(async () => store.close());
    return store;
  };
  return { server, open };
}

/** Writes things down of a batch, one after the other, until it is asked to stop. */
function writeOn(claim: RunClaim) {
  let isOver = false;
  let written = 0;
  const done = (async () => {
    for (; !isOver; written += 1) {
      await claim.record(progress(claim.batch, written % 2 === 0 ? 'ready' : 'launching'));
    }
  })();
  return {
    written: () => written,
    async stop() {
      isOver = true;
      await done;
    },
  };
}

describe('a run whose database', () => {
  test('crashes in the midst of it goes on, and has all that was written down', async () => {
    const { server, open } = await startServer();
    const [one, two] = [await open(), await open()];
    await one.begin(runEntry, planEntry);
    const ahead = await claimOne(one, batch(0));
    await ahead.record(progress(batch(0), 'ready'));
    const writing = [ahead, await claimOne(two, batch(1))].map(writeOn);
    for (let crash = 1; crash <= 3; crash += 1) {
      const before = writing.map(({ written }) => written());
      await server.crash();
      await expect
        .poll(() => writing.every(({ written }, at) => written() > (before[at] ?? 0) + 2), {
          timeout: 30_000,
        })
        .toBe(true);
    }
    await Promise.all(writing.map(async ({ stop }) => stop()));
    const { state } = await open();
    for (const [at, { written }] of writing.entries()) {
      const stage = written() % 2 === 1 ? 'ready' : 'launching';
      expect(state.batches.get(`00000${at + 1}`)?.state).toEqual(stages[stage]);
    }
    expect(ahead.revoked?.aborted).toBe(false);
  });

  test('was started again may have been set back: whoever claims after it hears so', async () => {
    const { server, open } = await startServer();
    const store = await open();
    await store.begin(runEntry, planEntry);
    const ahead = await claimOne(store, batch(0));
    await ahead.record(progress(batch(0), 'ready'));
    await claimOne(store, batch(1));
    expect(store.others.refusesOldLaunches).toBe(true);
    await server.crash();
    await claimOne(store, batch(2));
    expect(store.others.refusesOldLaunches).toBe(false);
    expect((await open()).others.refusesOldLaunches).toBe(true);
  });

  test('is taken over by a copy that lacks the last of it lets nobody go on by what he knew', async () => {
    const { server, open } = await startServer();
    const [one, two] = [await open(), await open()];
    await one.begin(runEntry, planEntry);
    const ahead = await claimOne(one, batch(0));
    await ahead.record(progress(batch(0), 'ready'));
    const idle = await claimOne(two, batch(1));
    await server.copy();
    await ahead.record(progress(batch(0), 'launching'));
    await server.failOver();
    // Also one that has missed nothing: what was launched is not in the journal that it would go on by.
    for (const claim of [ahead, idle]) {
      const reported = [
        async () => claim.confirm(),
        async () => claim.record(progress(claim.batch, 'launching')),
        async () => claim.reserve(100),
      ];
      for (const say of reported) {
        const refused = await rejection(say());
        if (refused instanceof ClaimRevokedError) continue;
        expect(refused).toMatchObject({ code: 'store_restored' });
        // Whatever starts the processes starts another, which asks the service first.
        expectExit(refused, 7);
      }
      expect(claim.revoked?.aborted).toBe(true);
    }
    await expect(two.claim([batch(2)])).rejects.toMatchObject({ code: 'store_restored' });
    await expect(two.record({ entry: 'resumed' })).rejects.toMatchObject({
      code: 'store_restored',
    });
    // Whoever begins now knows what there is, and asks the service for the rest.
    const next = await open();
    expect(next.state.batches.get('000001')?.state).toEqual(stages.ready);
    await two.close();
    const taken = await claimOne(next, batch(1));
    await taken.record(progress(batch(1), 'ready'));
  });

  test('is about to be taken over by a copy is waited for', async () => {
    const { server, open } = await startServer();
    const store = await open();
    await store.begin(runEntry, planEntry);
    await server.copy();
    let asking: Promise<unknown> | undefined;
    await server.failOver(async () => {
      asking = rejection(store.claim([batch(2)]));
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      // The copy has answered the call, and it was asked again.
      const hasAnswered = async (): Promise<boolean> => {
        const { rowCount } = await client.query(
          `select from pg_stat_activity
           where pid <> pg_backend_pid() and backend_type = 'client backend' and state = 'idle'
             and query like '%.claim%'`,
        );
        return rowCount !== 0;
      };
      await expect.poll(hasAnswered).toBe(true);
      await client.end();
    });
    // It does write now; what it lacks of the run is for whoever asks the service first.
    expect(await asking).toMatchObject({ code: 'store_restored' });
  });

  test('lost the end of the run keeps all of it, though whoever ended it clears it', async () => {
    const [run, schema] = [newName(), newName()];
    const store = await openStore({ run, schema, leaseMs: 60_000 });
    onTestFinished(async () => store.close());
    await store.begin(runEntry, planEntry);
    await askPostgres(`SELECT ${schema}.clear(run, life) FROM ${schema}.run`);
    const next = await openStore({ run, schema, leaseMs: 60_000 });
    onTestFinished(async () => next.close());
    expect(next.state.plan).toMatchObject(planEntry);
  });

  test('lost an entry, and has others after it, lets nobody go on who knows the lost one', async () => {
    const [run, schema] = [newName(), newName()];
    const store = await openStore({ run, schema, leaseMs: 60_000 });
    onTestFinished(async () => store.close());
    await store.begin(runEntry, planEntry);
    const note = { entry: 'resumed' } as const;
    await store.record(note);
    await askPostgres(
      `WITH lost AS (
         DELETE FROM ${schema}.journal WHERE seq = (SELECT max(seq) FROM ${schema}.journal) RETURNING *)
       INSERT INTO ${schema}.journal (run, owner, call, entry)
       SELECT run, gen_random_uuid(), call, entry FROM lost`,
    );
    await expect(store.record(note)).rejects.toMatchObject({ code: 'store_restored' });
    const next = await openStore({ run, schema, leaseMs: 60_000 });
    onTestFinished(async () => next.close());
    await next.record(note);
  });

  test.each(['before it is first asked', 'in the midst of it'])(
    'is frozen %s is given up in time, by those who wait for their turn, too',
    async (when) => {
      const proxy = await startCountingProxy(inject('postgresUrl'));
      const clock = createTestClock();
      const options = { url: proxy.url, name: 'a store', giveUpAfterMs: 10_000, clock };
      const connection = new StoreConnection(options);
      connection.listen(() => undefined);
      if (when === 'in the midst of it') await connection.ask('select 1');
      proxy.freeze();
      const asked = [1, 2, 3].map(async () => rejection(connection.ask('select 1')));
      await vi.waitFor(() => expect(clock.sleeping).toBeGreaterThan(0));
      await clock.advance(10_000);
      for (const given of asked) expect(await given).toMatchObject({ code: 'store_unavailable' });
      await connection.close();
    },
  );

  test('answers nothing for two thirds of a lease loses its claims before others can have them', async () => {
    const [run, schema] = [newName(), newName()];
    const store = await openStore({ run, schema, leaseMs: 6000 });
    onTestFinished(async () => store.close());
    await store.begin(runEntry, planEntry);
    const claim = await claimOne(store, batch(0));
    const lease = async (): Promise<number> => {
      const [row] = await askPostgres(
        `SELECT extract(epoch FROM lease_until)::float8 AS until FROM ${schema}.batch WHERE owner IS NOT NULL`,
      );
      return Number(row?.['until']);
    };
    const first = await lease();
    await expect.poll(lease).toBeGreaterThan(first + 6);
    expect(claim.revoked?.aborted).toBe(false);
    const blocking = new pg.Client({ connectionString: inject('postgresUrl') });
    await blocking.connect();
    await blocking.query(`BEGIN; LOCK TABLE ${schema}.batch, ${schema}.run`);
    await expect.poll(() => claim.revoked?.aborted).toBe(true);
    await expect(claim.confirm()).rejects.toBeInstanceOf(ClaimRevokedError);
    await blocking.end();
    // It has it again when nobody else took it.
    await (await claimOne(store, batch(0))).confirm();
  });
});

test.each([
  ['an earlier build', 'ALTER TABLE <schema>.migration DROP COLUMN digest'],
  ['a build with another text of it', "UPDATE <schema>.migration SET digest = 'another'"],
])('a store made by %s is refused by name, before anything is asked of it', async (_, change) => {
  const schema = newName();
  onTestFinished(async () => {
    await askPostgres(`DROP SCHEMA ${schema} CASCADE`);
  });
  const connectionString = inject('postgresUrl');
  const options = { run: 'night', schema };
  await (await openStore(options)).close();
  await askPostgres(change.replace('<schema>', schema));
  for (const look of [
    async () => openStore(options),
    async () => findPostgresRuns({ connectionString, schema }),
    async () => postgresStore({ connectionString, ...options }).look(),
  ]) {
    const error = await rejection(look());
    expectExit(error, 2);
    expect(error).toMatchObject({ code: 'state_damaged' });
    expect(error.message).toContain(`DROP SCHEMA "${schema}" CASCADE`);
  }
});
