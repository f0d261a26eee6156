import { inspect } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import {
  postgresSink,
  postgresSource,
  type PostgresSinkOptions,
} from '../../../src/databases/postgres/index.js';
import { ConfigurationError, type Sink, type Source } from '../../../src/index.js';
import { startCountingProxy } from '../counting-proxy.js';
import { changeFirst } from '../change-first.js';
import { dieBehind } from '../die-behind.js';
import { rejection } from '../rejection.js';
import { startVerifying } from '../verify-rows.js';
import { askPostgres } from './ask-postgres.js';

const url = (): string => inject('postgresUrl');
const from = (query: string): Source => postgresSource({ url: url(), query });
const into = (table: string, options: Partial<PostgresSinkOptions> = {}): Sink =>
  postgresSink({ url: url(), into: table, ...options });

async function makePeople(table: string, rows = 5): Promise<void> {
  await askPostgres(
    `CREATE TABLE ${table} (id int PRIMARY KEY, email text, note text NOT NULL DEFAULT 'kept')`,
  );
  await askPostgres(
    `INSERT INTO ${table} (id, email) SELECT i, CASE i % 3 WHEN 0 THEN 'bad' ELSE 'good' END || i || '@sluice.test' FROM generate_series(1, ${rows}) i`,
  );
}

/** Cells and when they were written. */
async function contents(table: string): Promise<string> {
  return JSON.stringify(await askPostgres(`SELECT xmin, * FROM ${table} AS t ORDER BY id`));
}

describe('a new table', () => {
  test('has the types of the columns that the query has, and booleans for flags', async () => {
    await askPostgres(`CREATE TABLE people (id int PRIMARY KEY, "E mail" varchar(80), born date,
      balance numeric(10,2), active boolean, tags text[], extra jsonb, seen timestamptz, picture bytea)`);
    await askPostgres(`INSERT INTO people VALUES
      (1, 'good@sluice.test', '2001-02-03', 12.50, true, '{a,"b c"}', '{"k": 1}', '2026-11-21 10:00:00.123456+02', '\\x00ff'),
      (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (3, E'tab\\tand\\nline \\\\ @sluice.test', NULL, -0.01, false, '{}', '[]', NULL, ''),
      (4, 'bad@sluice.test', NULL, NULL, NULL, NULL, NULL, NULL, NULL)`);
    const verifying = await startVerifying();
    const summary = await verifying.run({
      source: from('SELECT * FROM people ORDER BY id;'),
      sink: into('people_verified'),
      email: ['E mail'],
    });
    expect(summary.rows).toBe(4);
    expect(JSON.stringify(summary)).not.toContain('secret');
    const rows = await askPostgres('SELECT * FROM people_verified');
    expect(rows).toHaveLength(4);
    expect(
      await askPostgres(
        'SELECT count(*)::int AS n FROM people p JOIN people_verified v ON v.id = p.id AND p::text = (v.id, v."E mail", v.born, v.balance, v.active, v.tags, v.extra, v.seen, v.picture)::text',
      ),
    ).toEqual([{ n: 4 }]);
    expect(rows[0]).toMatchObject({
      'E mail_verification': 'verified',
      'E mail_reason': '',
      'E mail_valid': true,
      'E mail_wrong': false,
    });
    expect(rows[1]).toMatchObject({ 'E mail_reason': 'empty', 'E mail_valid': null });
    const types = await askPostgres(
      "SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'people_verified'::regclass AND attnum > 0",
    );
    expect(Object.fromEntries(types.map(({ name, type }) => [name, type]))).toMatchObject({
      id: 'integer',
      'E mail': 'character varying(80)',
      balance: 'numeric(10,2)',
      tags: 'text[]',
      extra: 'jsonb',
      'E mail_valid': 'boolean',
      'E mail_is_free': 'boolean',
      'E mail_quality': 'text',
    });
  });

  test('takes names to the letter, and its schema with them', async () => {
    const name = `x"; DROP TABLE pg_class; --`;
    await askPostgres('CREATE SCHEMA "Odd.Schema"');
    const verifying = await startVerifying();
    await verifying.run({
      source: from(`SELECT 1 AS "${name.replaceAll('"', '""')}", 'good@sluice.test' AS "select"`),
      sink: into(`"Odd.Schema"."${name.replaceAll('"', '""')}"`, { key: name }),
      email: ['select'],
    });
    expect(
      await askPostgres(`SELECT * FROM "Odd.Schema"."${name.replaceAll('"', '""')}"`),
    ).toMatchObject([{ [name]: 1, select_valid: true }]);
  });

  test('is written beside the last batches, and once more when its connection is lost meanwhile', async () => {
    const verifying = await startVerifying();
    const sink = into('beside');
    const events: string[] = [];
    let isCut = false;
    const summary = await verifying.run({
      source: from(
        "SELECT i AS id, 'good' || i || '@sluice.test' AS email FROM generate_series(1, 30000) i",
      ),
      sink: {
        ...sink,
        async open(opening) {
          events.push('open');
          const writing = await sink.open(opening);
          return {
            ...writing,
            async write(rows) {
              if (!isCut) {
                isCut = true;
                await askPostgres(
                  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%beside%' AND pid <> pg_backend_pid()",
                );
              }
              await writing.write(rows);
            },
          };
        },
      },
      email: ['email'],
      batchSize: 10_000,
      concurrency: 1,
      onProgress(progress) {
        if (progress.stage === 'batch' && progress.known.stage === 'exported') events.push('batch');
      },
    });
    expect(summary.rows).toBe(30_000);
    expect(events.indexOf('open')).toBeLessThan(events.lastIndexOf('batch'));
    expect(events.filter((event) => event === 'open')).toHaveLength(2);
    expect(await askPostgres('SELECT count(*)::int AS n FROM beside WHERE email_valid')).toEqual([
      { n: 30_000 },
    ]);
  });

  test('is not seen before it is whole, and not at all when its writing fails', async () => {
    const verifying = await startVerifying();
    const proxy = await startCountingProxy(url(), { cutAfterToServer: 800_000 });
    const options = {
      source: from(
        "SELECT i AS id, 'good@sluice.test' AS email, repeat('x', 100) AS filling FROM generate_series(1, 20000) i",
      ),
      email: ['email'],
    };
    const error = await rejection(
      verifying.run({ ...options, sink: postgresSink({ url: proxy.url, into: 'half' }) }),
    );
    expect(error).toMatchObject({ code: 'output_failed' });
    expect(error.message).toContain('the connection was lost');
    expect(await askPostgres("SELECT to_regclass('half') AS found")).toEqual([{ found: null }]);
    // The results are on disk: only the writing is done again, and nothing is paid again.
    const paid = await verifying.charges();
    const sink = { ...into('half'), name: postgresSink({ url: proxy.url, into: 'half' }).name };
    await verifying.run({ ...options, sink });
    expect(await verifying.charges()).toBe(paid);
    expect(await askPostgres('SELECT count(*)::int AS n FROM half WHERE email_valid')).toEqual([
      { n: 20_000 },
    ]);
  });

  test('does not take the place of one that is there, and nothing is sent', async () => {
    await makePeople('standing');
    const verifying = await startVerifying();
    const before = await contents('standing');
    const error = await rejection(
      verifying.run({
        source: from('SELECT * FROM standing'),
        sink: into('standing'),
        email: ['email'],
      }),
    );
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toContain('is there already');
    expect(await contents('standing')).toBe(before);
    expect(await verifying.charges()).toBe(0);
  });
});

describe('rows that are told by a key', () => {
  test('are updated where they are there, and added where they are not', async () => {
    await makePeople('crm');
    await askPostgres("INSERT INTO crm VALUES (99, 'other@sluice.test', 'another')");
    const verifying = await startVerifying();
    await verifying.run({
      source: from(
        "SELECT id + 3 AS id, 'good' || id || '@sluice.test' AS email FROM generate_series(1, 4) AS id",
      ),
      sink: into('crm', { key: 'id' }),
      email: ['email'],
    });
    expect(
      await askPostgres('SELECT id, email, note, email_valid FROM crm WHERE id > 2 ORDER BY id'),
    ).toEqual([
      { id: 3, email: 'bad3@sluice.test', note: 'kept', email_valid: null },
      { id: 4, email: 'good1@sluice.test', note: 'kept', email_valid: true },
      { id: 5, email: 'good2@sluice.test', note: 'kept', email_valid: true },
      { id: 6, email: 'good3@sluice.test', note: 'kept', email_valid: true },
      { id: 7, email: 'good4@sluice.test', note: 'kept', email_valid: true },
      { id: 99, email: 'other@sluice.test', note: 'another', email_valid: null },
    ]);
  });

  test('get the added columns alone when they came from the table itself', async () => {
    await makePeople('own');
    await askPostgres('ALTER TABLE own ADD COLUMN must text NOT NULL DEFAULT 1');
    const verifying = await startVerifying();
    const sink = into('own', { key: 'id' });
    await verifying.run({
      source: from('SELECT id, email FROM own WHERE id < 5'),
      // While the rows are verified, one changes and one goes.
      sink: changeFirst(sink, async () => {
        await askPostgres("UPDATE own SET email = 'newer@sluice.test' WHERE id = 1");
        await askPostgres('DELETE FROM own WHERE id = 2');
      }),
      email: ['email'],
    });
    expect(
      await askPostgres('SELECT id, email, email_valid, email_wrong FROM own ORDER BY id'),
    ).toEqual([
      { id: 1, email: 'newer@sluice.test', email_valid: null, email_wrong: null },
      { id: 3, email: 'bad3@sluice.test', email_valid: false, email_wrong: true },
      { id: 4, email: 'good4@sluice.test', email_valid: true, email_wrong: false },
      { id: 5, email: 'good5@sluice.test', email_valid: null, email_wrong: null },
    ]);
    // The same results again change nothing.
    const before = await contents('own');
    await verifying.run({
      source: from('SELECT id, email FROM own WHERE id IN (3, 4)'),
      sink: into('own', { key: 'id', isUpdate: true }),
      email: ['email'],
      prefix: { email: 'email_2' },
    });
    const again = await contents('own');
    expect(again).not.toBe(before);
    await verifying.run({
      source: from('SELECT id, email FROM own WHERE id IN (3, 4)'),
      sink: into('own', { key: 'id' }),
      email: ['email'],
      prefix: { email: 'email_2' },
    });
    expect(await contents('own')).toBe(again);
  });

  test('are applied in committed ranges, from where a lost process left off', async () => {
    await makePeople('ranged', 1000);
    const verifying = await startVerifying();
    const options = {
      source: from('SELECT id, email FROM ranged ORDER BY id'),
      email: ['email'],
    };
    // The 613th row refuses, after two ranges.
    await askPostgres(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 613 THEN RAISE EXCEPTION 'private'; END IF; RETURN NEW; END $$",
    );
    await askPostgres(
      'CREATE TRIGGER refuse BEFORE UPDATE ON ranged FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    const sink = into('ranged', { key: 'id', maxRowsPerCommit: 300 });
    const error = await rejection(verifying.run({ ...options, sink }));
    expect(error).toMatchObject({ code: 'output_failed', cause: { code: 'P0001' } });
    expect(inspect(error, { depth: Infinity })).not.toContain('private');
    expect(
      await askPostgres('SELECT count(*)::int AS n FROM ranged WHERE email_valid IS NOT NULL'),
    ).toEqual([{ n: 600 }]);
    await askPostgres('DROP TRIGGER refuse ON ranged');
    const before = await askPostgres('SELECT id, xmin FROM ranged WHERE id <= 600 ORDER BY id');
    await verifying.run({ ...options, sink });
    expect(await askPostgres('SELECT id, xmin FROM ranged WHERE id <= 600 ORDER BY id')).toEqual(
      before,
    );
    expect(
      await askPostgres('SELECT count(*)::int AS n FROM ranged WHERE email_valid IS NOT NULL'),
    ).toEqual([{ n: 1000 }]);
  });

  test('must be told by it, whatever form it has: what is only the same there ends the run, and the table is as it was', async () => {
    await makePeople('twice');
    const verifying = await startVerifying();
    const before = await contents('twice');
    const error = await rejection(
      verifying.run({
        // Texts of one number are known to be the same by the server alone.
        source: from("SELECT repeat('0', id) || '7' AS id, email FROM twice WHERE id < 3"),
        sink: into('twice', { key: 'id' }),
        email: ['email'],
      }),
    );
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error.message).toContain('occur in more than one row');
    expect(await verifying.charges()).toBe(0);
    expect(await contents('twice')).toBe(before);
  });

  test.each([
    ['a key that the rows lack', { key: 'nr' }, 'id, email', /no column "nr"/],
    ['a key that is not unique', { key: 'email' }, 'id, email', /unique index on email/],
    [
      'a column that the table lacks',
      { key: 'id', isUpdate: false },
      'id, email, 1 AS extra',
      /no column "extra"/,
    ],
    ['a schema that is not there', { into: 'nowhere.people' }, 'id, email', /nowhere/],
    ['what is no table', { into: 'pg_catalog.pg_user' }, 'id, email', /is no table/],
  ])('%s is said before anything is sent', async (what, options, columns, words) => {
    const table = `early_${what.replaceAll(/\W/g, '_')}`;
    await makePeople(table);
    const verifying = await startVerifying();
    const error = await rejection(
      verifying.run({
        source: from(`SELECT ${columns} FROM ${table}`),
        sink: into(table, options),
        email: ['email'],
      }),
    );
    expect(error.message).toMatch(words);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(await verifying.charges()).toBe(0);
  });

  test('with an empty key end the run before anything is sent', async () => {
    await makePeople('keyless');
    const verifying = await startVerifying();
    const error = await rejection(
      verifying.run({
        source: from('SELECT nullif(id, 2) AS id, email FROM keyless ORDER BY keyless.id'),
        sink: into('keyless', { key: 'id' }),
        email: ['email'],
      }),
    );
    expect(error.message).toBe('data row 2 of the input has no key: nothing is in column "id"');
    expect(await verifying.charges()).toBe(0);
  });
});

describe('killed behind the commit', () => {
  test.each([
    ['a new table', {}],
    ['a new table with a key', { key: 'id' }],
    ['a table that was there', { key: 'id' }],
  ])('%s is not written again', async (what, options) => {
    const table = `marked_${what.replaceAll(/\W/g, '_')}`;
    await makePeople('people_of_marked').catch(() => undefined);
    if (what.endsWith('there')) await makePeople(table);
    const verifying = await startVerifying();
    const sink = into(table, options);
    const run = {
      source: from('SELECT id, email FROM people_of_marked ORDER BY id'),
      email: ['email'],
    };
    const killed = new Error('killed');
    await expect(verifying.run({ ...run, sink: dieBehind(sink, killed) })).rejects.toBe(killed);
    const written = await contents(table);
    const paid = await verifying.charges();
    const summary = await verifying.run({ ...run, sink });
    expect(summary.rows).toBe(5);
    expect(await contents(table)).toBe(written);
    expect(await verifying.charges()).toBe(paid);
    // A later run is another one.
    const later = verifying.run({ ...run, sink });
    if (what === 'a new table') await expect(later).rejects.toThrow('is there already');
    else expect((await later).rows).toBe(5);
  });
});
