import { inspect } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { postgresSink, postgresSource } from '../../../../src/lists/sql/postgres/index.js';
import { statements as postgresStatements } from '../../../../src/lists/sql/postgres/statements.js';
import { rowsSource, type Source } from '../../../../src/index.js';
import { createFastClock } from '../../../../src/testing/index.js';
import { startPgbouncer } from '../../../servers/start-pgbouncer.js';
import { startCountingProxy } from '../harness/counting-proxy.js';
import { readAll } from '../harness/carry.js';
import { expectExit, rejection } from '../harness/rejection.js';
import { changeFirst } from '../harness/spoilt-sinks.js';
import { describeDatabase } from '../suite/describe-database.js';
import type { Place } from '../suite/database.js';
import { countIn, makePeople } from '../suite/people.js';
import { startVerifying } from '../harness/verify-rows.js';
import { newName } from '../harness/new-name.js';
import { askPostgres } from './ask-postgres.js';
import { postgres, postgresServer } from './postgres-database.js';

describeDatabase(postgres);

const query = (text: string, url = inject('postgresUrl')): Source =>
  postgresSource({ url, query: text });

async function openPeople(): Promise<Place> {
  const place = await postgres.open();
  await makePeople(place);
  return place;
}

/** Cells and when they were written. */
async function contents({ ask, table }: Place, condition = 'true'): Promise<unknown> {
  return ask(`SELECT xmin, * FROM ${table} AS t WHERE ${condition} ORDER BY id`);
}

describe('rows of PostgreSQL', () => {
  test('come through a cursor where COPY does not take the statement', async () => {
    expect(await readAll(query('SHOW server_encoding'))).toEqual([['UTF8']]);
    const plan = await readAll(query('EXPLAIN SELECT 1'));
    expect(plan[0]?.[0]).toMatch(/^Result/);
  });

  test('hold bytes of another encoding, which is said', async () => {
    const error = await rejection(readAll(query("SELECT convert_from('\\xe9', 'UTF8')")));
    expect(error.message).toContain('a text holds bytes that its encoding does not have');
  });

  test('of a cursor have no end where the server is lost', async () => {
    const proxy = await startCountingProxy(inject('postgresUrl'));
    const lost = rejection(
      readAll(query('EXPLAIN ANALYZE VERBOSE SELECT pg_sleep(60)', proxy.url)),
    );
    await expect
      .poll(() =>
        askPostgres("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'EXPLAIN ANALYZE VERBOSE%'"),
      )
      .not.toEqual([]);
    proxy.cut();
    const error = await lost;
    expect(error).toMatchObject({ code: 'input_unreadable', cause: { code: 'ECONNRESET' } });
  });

  test('have no end where their backend is shut down', async () => {
    const many = "SELECT i, repeat('x', 100) AS filling FROM generate_series(1, 300000) AS i";
    const reading = await query(`/* shut down */ ${many}`).open({ wanted: () => [] });
    const chunks = reading.chunks[Symbol.asyncIterator]();
    await chunks.next();
    await askPostgres(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%/* shut down */%' AND application_name = 'sluice'",
    );
    const rest = async (): Promise<void> => {
      while ((await chunks.next()).done !== true);
    };
    expect(await rejection(rest())).toMatchObject({ code: 'input_unreadable' });
  });
});

describe('a URL with settings that the server refuses', () => {
  test.each([
    ['-c search_path=a,,b', 'search_path'],
    ['-c no_such_setting=1', 'no_such_setting'],
    ['-c DateStyle=never', 'DateStyle'],
    ['-c max_connections=1', 'max_connections'],
    ['--what', '--what'],
  ])('%s is reported in its words, before anything is sent', async (options, words) => {
    const url = new URL(inject('postgresUrl'));
    url.searchParams.set('options', options);
    const error = await rejection(readAll(query('SELECT 1', url.href)));
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toContain(words);
    const sink = postgresSink({ url: url.href, into: newName() });
    expectExit(await rejection(sink.check?.(1) ?? Promise.resolve()), 2);
  });
});

describe('a table of PostgreSQL', () => {
  test('takes names to the letter, and its schema with them', async () => {
    const { ask, sink, source, table } = await postgres.open();
    const name = `x"; DROP TABLE pg_class; --`;
    const quoted = `"${name.replaceAll('"', '""')}"`;
    await ask(`CREATE SCHEMA "Odd.${table}"`);
    const verifying = await startVerifying();
    await verifying.run({
      source: source(`SELECT 1 AS ${quoted}, 'good@sluice.test' AS "select"`),
      sink: sink({ into: `"Odd.${table}".${quoted}`, key: name }),
      email: ['select'],
    });
    expect(await ask(`SELECT * FROM "Odd.${table}".${quoted}`)).toMatchObject([
      { [name]: 1, select_valid: true },
    ]);
  });

  test('goes on where another run makes the table of markers in this moment', async () => {
    const { source, sink } = await postgres.open();
    const openSession = postgres.server?.openSession ?? expect.unreachable();
    const schema = newName();
    const session = await openSession();
    await askPostgres(`CREATE SCHEMA ${schema}`);
    await session.query(
      `CREATE TABLE ${schema}.sluice_runs (target text PRIMARY KEY, run text NOT NULL, digest text NOT NULL, applied bigint NOT NULL, rows bigint NOT NULL, result_columns text NOT NULL, written_at timestamptz NOT NULL DEFAULT now())`,
    );
    const commit = async (): Promise<void> => {
      await expect.poll(session.isWaitedFor).toBe(true);
      await session.query('COMMIT');
      await session.end();
    };
    const [summary] = await Promise.all([
      (await startVerifying()).run({
        source: source("SELECT 1 AS id, 'good@sluice.test' AS email"),
        sink: sink({ into: `${schema}.people` }),
        email: ['email'],
      }),
      commit(),
    ]);
    expect(summary.rows).toBe(1);
    expect(await askPostgres(`SELECT email_valid FROM ${schema}.people`)).toEqual([
      { email_valid: true },
    ]);
  });

  test('is written beside the last batches, and once more when its connection is lost meanwhile', async () => {
    const place = await postgres.open();
    const sink = place.sink();
    const rows = 3000;
    const events: string[] = [];
    let isCut = false;
    const verifying = await startVerifying();
    const summary = await verifying.run({
      source: place.source(
        `SELECT i AS id, 'good' || i || '@sluice.test' AS email FROM generate_series(1, ${rows}) i`,
      ),
      sink: {
        ...sink,
        async open(opening) {
          events.push('open');
          const writing = await sink.open(opening);
          return {
            ...writing,
            async write(written) {
              if (!isCut) {
                isCut = true;
                await askPostgres(
                  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%${place.table}%' AND pid <> pg_backend_pid()`,
                );
              }
              await writing.write(written);
            },
          };
        },
      },
      email: ['email'],
      batchSize: rows / 3,
      concurrency: 1,
      onProgress(progress) {
        if (progress.stage === 'batch' && progress.state.stage === 'exported') events.push('batch');
      },
    });
    expect(summary.rows).toBe(rows);
    expect(events.indexOf('open')).toBeLessThan(events.lastIndexOf('batch'));
    expect(events.filter((event) => event === 'open')).toHaveLength(2);
    expect(await countIn(place, 'email_valid')).toBe(rows);
  });

  test('is not changed by the same results again', async () => {
    const place = await openPeople();
    const verifying = await startVerifying();
    const run = async (): Promise<unknown> => {
      await verifying.run({
        source: place.source(`SELECT id, email FROM ${place.table} WHERE id IN (3, 4)`),
        sink: place.sink({ key: 'id' }),
        email: ['email'],
      });
      return contents(place);
    };
    const before = await contents(place);
    const written = await run();
    expect(written).not.toEqual(before);
    expect(await run()).toEqual(written);
  });

  test('is changed in committed ranges, from where a lost process left off', async () => {
    const { ask, source, table, ...place } = await postgres.open();
    await ask(
      `CREATE TABLE ${table} AS SELECT i AS id, 'good' || i || '@sluice.test' AS email FROM generate_series(1, 1000) i`,
      `ALTER TABLE ${table} ADD PRIMARY KEY (id)`,
      // The 613th row refuses, after two ranges.
      `CREATE FUNCTION ${table}_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 613 THEN RAISE EXCEPTION 'private'; END IF; RETURN NEW; END $$`,
      `CREATE TRIGGER refuse BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_f()`,
    );
    const people = { ask, source, table, ...place };
    const url = inject('postgresUrl');
    const run = {
      source: source(`SELECT id, email FROM ${table} ORDER BY id`),
      sink: postgresSink({ url, into: table, key: 'id', maxRowsPerCommit: 300 }),
      email: ['email'],
    };
    const verifying = await startVerifying();
    const error = await rejection(verifying.run(run));
    expect(error).toMatchObject({ code: 'output_failed', cause: { code: 'P0001' } });
    expect(inspect(error, { depth: Infinity })).not.toContain('private');
    expect(await countIn(people, 'email_valid IS NOT NULL')).toBe(600);
    await ask(`DROP TRIGGER refuse ON ${table}`);
    const before = await contents(people, 'id <= 600');
    await verifying.run(run);
    expect(await contents(people, 'id <= 600')).toEqual(before);
    expect(await countIn(people, 'email_valid IS NOT NULL')).toBe(1000);
  });

  test('must be told by its key, whatever form it has: what is only the same there ends the run, and the table is as it was', async () => {
    const place = await openPeople();
    const before = await contents(place);
    const verifying = await startVerifying();
    const error = await rejection(
      verifying.run({
        // Texts of one number are known to be the same by the server alone.
        source: place.source(
          `SELECT repeat('0', id) || '7' AS id, 'good' || id || '@sluice.test' AS email FROM generate_series(1, 2) AS s (id)`,
        ),
        sink: place.sink({ key: 'id' }),
        email: ['email'],
      }),
    );
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toMatch(/\b1\b.*\b1\b.*\b2\b.*\bid\b/);
    expect(await verifying.charges()).toBe(0);
    expect(await contents(place)).toEqual(before);
  });

  test('that has a row which is held for the whole trial write does not end the run, which says so', async () => {
    const place = await openPeople();
    const verifying = await startVerifying();
    const run = {
      source: place.source(`SELECT id, email FROM ${place.table}`),
      sink: place.sink({ key: 'id' }),
      email: ['email'],
    };
    // The columns are there from then on.
    await verifying.run(run);
    await place.ask(`UPDATE ${place.table} SET email_valid = NULL`);
    const session = await postgres.server?.openSession();
    await session?.query(`DELETE FROM ${place.table} WHERE id = 5`);
    const reported: (string | null)[] = [];
    const summary = await verifying.run({
      ...run,
      onProgress(progress) {
        if (progress.stage === 'notice') reported.push(progress.code);
        // The trial is over.
        if (progress.stage === 'batch') void session?.end();
      },
    });
    expect(summary.rows).toBe(5);
    expect(reported).toContain('lock_before_trial');
    expect(await countIn(place, 'email_valid IS NOT NULL')).toBe(5);
  });

  test('is written whatever a role has for short statements, and for its transactions', async () => {
    const place = await openPeople();
    const { ask, table } = place;
    const role = newName();
    await ask(
      `CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'geheim'`,
      `ALTER ROLE ${role} SET statement_timeout = '1s'`,
      `ALTER ROLE ${role} SET default_transaction_isolation = 'serializable'`,
      `CREATE FUNCTION ${table}_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.25); RETURN new; END $$`,
      `CREATE TRIGGER t BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_f()`,
    );
    const url = new URL(place.url);
    url.username = role;
    url.password = 'geheim';
    const source = place.source(`SELECT id, email FROM ${table}`);
    const sink = place.sink({ key: 'id', url: url.href });
    await (await startVerifying()).run({ source, sink, email: ['email'] });
    expect(await countIn(place, 'email_valid IS NOT NULL')).toBe(5);
  });

  test('behind PgBouncer is refused in transaction mode before anything is sent', async () => {
    const pooler = await startPgbouncer(inject('postgresUrl'));
    onTestFinished(() => pooler.stop());
    const sink = postgresSink({ url: pooler.url, into: 'pooled', key: 'id' });
    const error = await rejection((async () => sink.check(1))());
    expect(error.message).toContain('pool_mode');
    expectExit(error, 2);
    const url = `${pooler.url}?options=-c%20work_mem%3D64MB`;
    const refused = await rejection(readAll(query('SELECT 1', url)));
    expect(refused.message).toContain('startup parameter');
    expectExit(refused, 2);
  });
});

describe('a row that a table drops without an error', () => {
  const listOf = (rows: number): Source =>
    rowsSource(
      Array.from({ length: rows }, (_, at) => ({ id: at + 1, email: `good${at + 1}@sluice.test` })),
    );

  /** A table whose trigger does as it is notified. */
  async function withTrigger(body: string): Promise<Place> {
    const place = await postgres.open();
    const { ask, table } = place;
    await ask(
      `CREATE TABLE ${table} (id int PRIMARY KEY, email text)`,
      `CREATE FUNCTION ${table}_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body.replaceAll('<table>', table)} END $$`,
      `CREATE TRIGGER t BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_f()`,
    );
    return place;
  }

  test('leaves the table as it was where only the writing finds it, and is written in time', async () => {
    const place = await withTrigger('IF new.id = 400 THEN RETURN NULL; END IF; RETURN new;');
    const verifying = await startVerifying();
    const run = { source: listOf(450), sink: place.sink({ key: 'id' }), email: ['email'] };
    const error = await rejection(verifying.run(run));
    expect(error).toMatchObject({ rows: [400], fault: 'dropped' });
    expectExit(error, 6);
    expect(await countIn(place)).toBe(0);
    const charges = await verifying.charges();
    await place.ask(`DROP TRIGGER t ON ${place.table}`);
    await verifying.run({ ...run, sink: place.sink({ key: 'id' }) });
    expect(await countIn(place)).toBe(450);
    expect(await verifying.charges()).toBe(charges);
  });

  test('is a row of the table itself that keeps its old results', async () => {
    const place = await withTrigger(
      `IF TG_OP = 'UPDATE' AND new.id = 2 THEN RETURN NULL; END IF; RETURN new;`,
    );
    const { ask, table } = place;
    await ask(`INSERT INTO ${table} VALUES (1, 'good1@sluice.test'), (2, 'good2@sluice.test')`);
    const verifying = await startVerifying();
    const source = place.source(`SELECT id, email FROM ${table} ORDER BY id`);
    const sink = place.sink({ key: 'id', isUpdate: true });
    const error = await rejection(verifying.run({ source, sink, email: ['email'] }));
    expect(error).toMatchObject({ rows: [2], fault: 'dropped' });
    expect(await verifying.charges()).toBe(0);
  });

  test('is recognized from one that it refuses with a code of its own, before anything is sent', async () => {
    const place = await withTrigger("RAISE 'private' USING errcode = 'U0001';");
    const run = { source: listOf(2), sink: place.sink({ key: 'id' }), email: ['email'] };
    const error = await rejection((await startVerifying()).run(run));
    expect(error).toMatchObject({ fault: 'trigger' });
    expectExit(error, 2);
  });

  test('is none that a trigger changes, or writes in a part of the transaction', async () => {
    const place = await withTrigger(
      `IF TG_OP = 'UPDATE' OR new.email LIKE 'x%' THEN new.email := lower(new.email); RETURN new; END IF;
       BEGIN INSERT INTO <table> SELECT new.id, 'x' || new.email; EXCEPTION WHEN unique_violation THEN NULL; END;
       RETURN NULL;`,
    );
    for (const night of [1, 2]) {
      const run = { source: listOf(9), sink: place.sink({ key: 'id' }), email: ['email'] };
      expect([night, (await (await startVerifying()).run(run)).rows]).toEqual([night, 9]);
    }
    expect(await countIn(place)).toBe(9);
  });
});

test('a key that the table has in capitals is named as it is there', async () => {
  const { ask, sink, table } = await postgres.open();
  await ask(`CREATE TABLE ${table} ("ID" int PRIMARY KEY, email text)`);
  const source = rowsSource([{ id: 1, email: 'good1@sluice.test' }]);
  const verifying = await startVerifying();
  const error = await rejection(
    verifying.run({ source, sink: sink({ key: 'id' }), email: ['email'] }),
  );
  expect(error).toMatchObject({ code: 'column_not_found' });
  expect(error.message).toContain('"ID" too');
});

test('a run whose claim on a new table ends with its session takes it again, or hears that another one has it', async () => {
  const clock = createFastClock(10_000);
  const into = newName();
  const lost: Error[] = [];
  const claimAs = async (name: string): Promise<() => Promise<void>> => {
    const url = `${inject('postgresUrl')}?application_name=${name}`;
    const onLost = (error: Error): unknown => lost.push(error);
    return (await postgresSink({ url, into }).hold?.({ clock, onLost })) ?? expect.fail();
  };
  const sessions = async (name: string): Promise<readonly unknown[]> =>
    askPostgres(`SELECT pid FROM pg_stat_activity WHERE application_name = '${name}'`);
  const endSession = async (name: string): Promise<void> => {
    await askPostgres(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = '${name}'`,
    );
  };
  const [name, other] = [newName(), newName()];
  const release = await claimAs(name);
  await endSession(name);
  await expect.poll(async () => sessions(name)).toHaveLength(1);
  await expect(claimAs(other)).rejects.toMatchObject({ code: 'state_locked' });
  expect(lost).toEqual([]);
  let releaseOther: (() => Promise<void>) | undefined;
  while (!releaseOther) {
    await endSession(name);
    releaseOther = await claimAs(other).catch(() => undefined);
  }
  await expect.poll(() => lost.length).toBeGreaterThan(0);
  expect(lost[0]).toMatchObject({ code: 'output_failed' });
  await releaseOther();
  await release();
});

describe('runs that begin in one schema of PostgreSQL at the same time', () => {
  const markers = `(target text PRIMARY KEY, run text NOT NULL, digest text NOT NULL, applied bigint NOT NULL, rows bigint NOT NULL, result_columns text NOT NULL, written_at timestamptz NOT NULL DEFAULT now())`;

  /** Does something in a session, which commits when somebody waits for that. */
  async function commitWhenAwaited(statement: string): Promise<{ readonly done: Promise<void> }> {
    const session = await postgresServer.openSession();
    await session.query(statement);
    const commit = async (): Promise<void> => {
      await expect.poll(session.isWaitedFor, { message: 'somebody waits' }).toBe(true);
      await session.query('COMMIT');
      await session.end();
    };
    return { done: commit() };
  }

  test.each([
    ['a new table', false],
    ['a table that is there', true],
  ])('wait for the table of markers that another one makes, for %s', async (_, isThere) => {
    const schema = newName();
    const people = `${schema}.people`;
    await askPostgres(`CREATE SCHEMA ${schema}`);
    if (isThere) await askPostgres(`CREATE TABLE ${people} (id int PRIMARY KEY, email text)`);
    const place = await postgres.open();
    const create = `CREATE TABLE ${schema}.sluice_runs ${markers}`;
    const verifying = await startVerifying();
    const rehearsed = await commitWhenAwaited(create);
    let written = rehearsed;
    await verifying.run({
      source: rowsSource([{ id: 1, email: 'good1@sluice.test' }]),
      sink: changeFirst(place.sink({ into: people, key: 'id' }), async () => {
        await rehearsed.done;
        await askPostgres(`DROP TABLE ${schema}.sluice_runs`);
        written = await commitWhenAwaited(create);
      }),
      email: ['email'],
    });
    await written.done;
    expect(written).not.toBe(rehearsed);
    expect(await askPostgres(`SELECT email_valid FROM ${people}`)).toEqual([{ email_valid: true }]);
    expect(await askPostgres(`SELECT target FROM ${schema}.sluice_runs`)).toHaveLength(1);
    expect(await verifying.charges()).toBe(1);
  });

  test('go on where another one has made the table of markers between a look and its own making', async () => {
    const schema = newName();
    await askPostgres(`CREATE SCHEMA ${schema}`);
    // A type of that name is there, and no table: what the look of a run in the midst of it sees.
    await askPostgres(`CREATE TYPE ${schema}.sluice_runs AS ENUM ('a')`);
    const create = postgresStatements.markers.createBesideOthers?.(
      `CREATE TABLE IF NOT EXISTS ${schema}.sluice_runs (id int)`,
    );
    expect(await askPostgres(create ?? '')).toEqual([]);
  });

  test('write into the same new table, the second into what the first has made', async () => {
    const place = await postgres.open();
    const { table } = place;
    const verifying = await startVerifying();
    const create = `CREATE TABLE ${table} AS SELECT 2 AS id, 'good2@sluice.test' AS email; ALTER TABLE ${table} ADD PRIMARY KEY (id)`;
    const rehearsed = await commitWhenAwaited(create);
    let written = rehearsed;
    await verifying.run({
      source: rowsSource([{ id: 1, email: 'good1@sluice.test' }]),
      sink: changeFirst(place.sink({ key: 'id' }), async () => {
        await rehearsed.done;
        await askPostgres(`DROP TABLE ${table}`);
        written = await commitWhenAwaited(create);
      }),
      email: ['email'],
    });
    await written.done;
    expect(written).not.toBe(rehearsed);
    expect(await askPostgres(`SELECT id, email_valid FROM ${table} ORDER BY id`)).toEqual([
      { id: 1, email_valid: true },
      { id: 2, email_valid: null },
    ]);
  });
});
