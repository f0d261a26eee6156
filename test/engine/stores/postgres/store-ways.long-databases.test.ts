import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { migrationSql } from '../../../../src/engine/stores/postgres/schema.js';
import { postgresStore } from '../../../../src/engine/stores/postgres/postgres-store.js';
import { makeCertificate } from '../../../servers/make-certificate.js';
import { startPgbouncer } from '../../../servers/start-pgbouncer.js';
import { startPostgres } from '../../../servers/start-postgres.js';
import { expectExit, rejection } from '../../../lists/sql/harness/rejection.js';
import { urlOf, newName } from '../../../lists/sql/harness/new-name.js';
import { askPostgres } from '../../../lists/sql/postgres/ask-postgres.js';
import { planEntry } from '../example-entries.js';
import { batch, claimOne, liveThrough, openStore, progress, runEntry } from './store-place.js';

async function newSchema(): Promise<string> {
  const schema = newName();
  onTestFinished(async () => {
    await askPostgres(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  });
  return schema;
}

/** The connections of stores to the tests' server, by the state that one of them has written down. */
async function connectionsOf(
  schema: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return askPostgres(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'sluice' AND query LIKE '%' || $1 || '%'
       AND pid <> pg_backend_pid()`,
    [schema],
  );
}

describe('a run in PostgreSQL', () => {
  test('needs a role that has its schema, and no more', async () => {
    const [user, schema] = [newName(), await newSchema()];
    await askPostgres(`CREATE ROLE ${user} LOGIN PASSWORD 'geheim'`);
    const refused = await rejection(
      liveThrough({ connectionString: urlOf(user, inject('postgresUrl')), schema }),
    );
    expectExit(refused, 2);
    expect(refused.message).toMatch(/^cannot use the store of run "t_\w+" in .*permission denied/);
    expect(refused.message).not.toContain('geheim');
    await askPostgres(`CREATE SCHEMA ${schema} AUTHORIZATION ${user}`);
    await liveThrough({ connectionString: urlOf(user, inject('postgresUrl')), schema });
  });

  test('has at most two connections a process', async () => {
    const [run, schema] = [newName(), await newSchema()];
    const store = await openStore({ run, schema });
    onTestFinished(async () => store.close());
    await store.begin(runEntry, planEntry);
    await claimOne(store, batch(0));
    await expect.poll(async () => connectionsOf(schema)).toHaveLength(2);
    await Promise.all(
      Array.from({ length: 32 }, async () => store.record({ entry: 'balance', credits: null })),
    );
    expect(await connectionsOf(schema)).toHaveLength(2);
    await store.close();
    await expect.poll(async () => connectionsOf(schema)).toHaveLength(0);
  });

  test('is spoken to with TLS, as sslmode says', async () => {
    const pair = await makeCertificate();
    const server = await startPostgres(pair);
    onTestFinished(async () => server.stop());
    const url = new URL(server.url);
    url.searchParams.set('sslmode', 'verify-ca');
    url.searchParams.set('sslrootcert', pair.certificate);
    await liveThrough({ connectionString: url.href });
    const other = await makeCertificate();
    url.searchParams.set('sslrootcert', other.certificate);
    const refused = await rejection(liveThrough({ connectionString: url.href }));
    expect(refused.message).toContain('is not trusted');
  });

  test('goes on when its connections are cut, and writes everything down once', async () => {
    const [run, schema] = [newName(), await newSchema()];
    const store = await openStore({ run, schema });
    onTestFinished(async () => store.close());
    await store.begin(runEntry, planEntry);
    const claim = await claimOne(store, batch(0));
    let isCutting = true;
    const cutting = (async () => {
      while (isCutting) {
        for (const { pid } of await connectionsOf(schema)) {
          await askPostgres('SELECT pg_terminate_backend($1)', [pid]);
        }
      }
    })();
    for (let index = 0; index < 60; index += 1) {
      await claim.record(progress(batch(0), index % 2 === 0 ? 'ready' : 'launching'));
    }
    isCutting = false;
    await cutting;
    const [written] = await askPostgres(
      `SELECT count(*)::int AS calls FROM ${schema}.journal WHERE run = $1 AND batch IS NOT NULL`,
      [run],
    );
    expect(written?.['calls']).toBe(60);
    expect((await openedAnew({ run, schema })).batches.get('000001')?.state.stage).toBe(
      'launching',
    );
  });

  test('gives up with 7 when nothing listens for too long, and never names the password', async () => {
    const url = new URL(inject('postgresUrl'));
    url.port = '1';
    const options = { connectionString: url.href, run: 'r', giveUpAfterMs: 500 };
    const error = await rejection(openStore(options));
    expectExit(error, 7);
    expect(error).toMatchObject({ code: 'store_unavailable' });
    expect(error.message).toMatch(
      /^cannot reach the store of run "r" in postgres:\/\/postgres@127.0.0.1:1\/postgres \(nothing listens there\); gave up after 1 s$/,
    );
  });

  test('is made by its SQL, too, once however often that is run, and is not taken from a newer version', async () => {
    const schema = await newSchema();
    await askPostgres(migrationSql(schema));
    await askPostgres(migrationSql(schema));
    await liveThrough({ schema });
    expect(await askPostgres(`SELECT number FROM ${schema}.migration`)).toEqual([{ number: 1 }]);
    await askPostgres(`INSERT INTO ${schema}.migration (number) VALUES (1000)`);
    const refused = await rejection(liveThrough({ schema }));
    expect(refused.message).toContain('was made by a newer version of Sluice');
  });

  test.each([
    [{ schema: 'a.b' }, 'letters, digits and underscores'],
    [{ leaseMs: 2999 }, 'at least 3 seconds'],
    [{ run: ' ' }, '1 to 200 characters'],
    [{ connectionString: 'http://h/' }, 'it has the form postgres://'],
  ])('is refused with %o', (options, words) => {
    const right = { connectionString: inject('postgresUrl'), run: 'r' };
    expect(() => postgresStore({ ...right, ...options })).toThrow(words);
  });
});

async function openedAnew(options: { readonly run: string; readonly schema: string }) {
  const next = await openStore(options);
  await next.close();
  return next.state;
}

describe('a run behind PgBouncer in transaction mode', () => {
  test('lives through all that it lives through without', async () => {
    const pooler = await startPgbouncer(inject('postgresUrl'));
    onTestFinished(async () => pooler.stop());
    const schema = await newSchema();
    await Promise.all(
      Array.from({ length: 4 }, async () => liveThrough({ connectionString: pooler.url, schema })),
    );
  });
});
