import pg from 'pg';
import { inject } from 'vitest';
import { postgresSink, postgresSource } from '../../../../src/lists/sql/postgres/index.js';
import { JsonText } from '../../../../src/lists/rows/values/kinds.js';
import type { Cells, Database, DatabaseServer } from '../suite/database.js';
import { newName, urlOf } from '../harness/new-name.js';
import { askPostgres } from './ask-postgres.js';

const url = (): string => inject('postgresUrl');

async function askAll(...statements: readonly string[]): Promise<readonly Cells[]> {
  let rows: readonly Cells[] = [];
  for (const statement of statements) rows = await askPostgres(statement);
  return rows;
}

export const postgresServer: DatabaseServer = {
  url,
  scheme: 'postgres',
  refusedCode: '28P01',
  async hasWaiting() {
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    return (await askPostgres(waiting)).length > 0;
  },
  async openSession() {
    const client = new pg.Client({ connectionString: url() });
    await client.connect();
    await client.query('BEGIN');
    return {
      query: (text) => client.query(text),
      async isWaitedFor() {
        const waiting =
          'SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))';
        return (await client.query(waiting)).rows.length > 0;
      },
      end: () => client.end(),
    };
  },
  rights: {
    async makeUser(grants) {
      const [user, schema] = [newName(), newName()];
      await askAll(
        `CREATE ROLE ${user} LOGIN PASSWORD 'geheim'`,
        `CREATE SCHEMA ${schema}`,
        `GRANT USAGE ON SCHEMA ${schema} TO ${user}`,
        `CREATE TABLE ${schema}.people (id int PRIMARY KEY, email text)`,
        `INSERT INTO ${schema}.people VALUES (1, 'good1@sluice.test')`,
        ...grants.map((grant) =>
          grant
            .replace('<table>', `${schema}.people`)
            .replace('<markers>', `${schema}.sluice_runs`)
            .replace('<user>', user),
        ),
      );
      return { url: urlOf(user, url()), schema };
    },
    cases: [
      [
        'may not add columns',
        ['GRANT SELECT, INSERT, UPDATE ON <table> TO <user>'],
        'people',
        /must be owner of table/,
      ],
      [
        'may not make tables beside it',
        ['ALTER TABLE <table> OWNER TO <user>'],
        'people',
        /permission denied for schema/,
      ],
      [
        'may not add a column to the table of markers that an earlier version has made',
        [
          'ALTER TABLE <table> OWNER TO <user>',
          'CREATE TABLE <markers> (target text PRIMARY KEY, run text, digest text, applied bigint, rows bigint, written_at timestamptz)',
          'GRANT SELECT, INSERT, UPDATE ON <markers> TO <user>',
        ],
        'people',
        /must be owner of table sluice_runs/,
      ],
      ['may not make a new one', [], 'other', /permission denied for schema/],
      [
        'may only read',
        [
          'ALTER TABLE <table> OWNER TO <user>',
          'ALTER ROLE <user> SET default_transaction_read_only = on',
        ],
        'people',
        /read-only transaction/,
      ],
    ],
  },
};

export const postgres: Database = {
  name: 'PostgreSQL',
  async open() {
    const table = newName();
    return {
      url: url(),
      table,
      ask: askAll,
      source: (query, from = url()) => postgresSource({ url: from, query }),
      sink: (options = {}) => postgresSink({ url: url(), into: table, ...options }),
      traces: () => askPostgres('SELECT 1 WHERE to_regclass($1) IS NOT NULL', [table]),
    };
  },
  numbers: (rows) => `generate_series(1, ${rows}) AS n(i)`,
  values: {
    query: () =>
      `SELECT 1::int, 9007199254740993::bigint, 1.50::numeric, 0.1::float8, 'NaN'::float4, true,
        false, NULL::text, '', E'a\\tb\\nc\\\\N\\r', '{"k": [1]}'::json, '\\x00ff'::bytea,
        '2026-11-21 10:00+02'::timestamptz, '2001-02-03'::date, '{1,2}'::int[], 'Ünïcode 🎈'`,
    rows: [
      [
        1,
        9007199254740993n,
        '1.50',
        0.1,
        NaN,
        true,
        false,
        null,
        '',
        'a\tb\nc\\N\r',
        new JsonText('{"k": [1]}'),
        Buffer.from([0, 255]),
        '2026-11-21 08:00:00+00',
        '2001-02-03',
        '{1,2}',
        'Ünïcode 🎈',
      ],
    ],
  },
  refusedQueries: [
    ['a table that is not there', 'SELECT * FROM nowhere', /relation "nowhere" does not exist/],
    [
      'a column that is not there',
      'SELECT nothing FROM pg_class',
      /column "nothing" does not exist/,
    ],
    ['a statement that is none', 'SELEKT 1', /syntax error at or near "SELEKT"/],
    [
      'a statement that changes something',
      'CREATE TABLE made AS SELECT 1',
      /read-only transaction/,
    ],
  ],
  ownRows: [
    [
      'a function',
      (table) => `SELECT id, email FROM ${table}_f()`,
      (table) =>
        `CREATE FUNCTION ${table}_f() RETURNS SETOF ${table} LANGUAGE sql AS 'SELECT * FROM ${table}'`,
    ],
    [
      'a table that has it as a part',
      (table) => `SELECT id, email FROM ${table}_whole`,
      (table) =>
        `CREATE TABLE ${table}_whole (LIKE ${table}); ALTER TABLE ${table} INHERIT ${table}_whole`,
    ],
  ],
  failingQuery:
    "SELECT CASE i WHEN 50000 THEN 'private cell'::text::int ELSE i END FROM generate_series(1, 60000) i",
  newTable: {
    statements: (table) => [
      `CREATE TABLE ${table} (id int PRIMARY KEY, "E mail" varchar(80), born date,
        balance numeric(10,2), active boolean, tags text[], extra jsonb, seen timestamptz, picture bytea)`,
      `INSERT INTO ${table} VALUES
        (1, 'good@sluice.test', '2001-02-03', 12.50, true, '{a,"b c"}', '{"k": 1}', '2026-11-21 10:00:00.123456+02', '\\x00ff'),
        (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (3, E'tab\\tand\\nline \\\\ @sluice.test', NULL, -0.01, false, '{}', '[]', NULL, ''),
        (4, 'bad@sluice.test', NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
    ],
    query: (table) => `SELECT * FROM ${table} ORDER BY id;`,
    email: 'E mail',
    into: (table) => `"${table} ""; DROP TABLE pg_class; --"`,
    looks: (table) => {
      const made = `"${table} ""; DROP TABLE pg_class; --"`;
      const type = (column: string) =>
        `(SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '${made}'::regclass AND attname = '${column}')`;
      return [
        [
          `SELECT count(*)::int AS n FROM ${table} p JOIN ${made} v ON v.id = p.id AND p::text = (v.id, v."E mail", v.born, v.balance, v.active, v.tags, v.extra, v.seen, v.picture)::text`,
          [{ n: 4 }],
        ],
        [
          `SELECT "E mail_verification" AS v, "E mail_reason" AS r, "E mail_valid" AS valid, "E mail_wrong" AS wrong FROM ${made} ORDER BY id LIMIT 2`,
          [
            { v: 'verified', r: '', valid: true, wrong: false },
            { v: 'not_submitted', r: 'empty', valid: null, wrong: null },
          ],
        ],
        [
          `SELECT ${['id', 'E mail', 'balance', 'tags', 'extra', 'E mail_valid', 'E mail_is_free', 'E mail_quality'].map((column) => `${type(column)} AS "${column}"`).join(', ')}`,
          [
            {
              id: 'integer',
              'E mail': 'character varying(80)',
              balance: 'numeric(10,2)',
              tags: 'text[]',
              extra: 'jsonb',
              'E mail_valid': 'boolean',
              'E mail_is_free': 'boolean',
              'E mail_quality': 'text',
            },
          ],
        ],
      ];
    },
  },
  hasSchemas: true,
  hasOrigins: true,
  longestName: 63,
  takes: [],
  dropRow: (table, id) => [
    `CREATE FUNCTION ${table}_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.id = ${id} THEN RETURN NULL; END IF; RETURN new; END $$`,
    `CREATE TRIGGER t BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_f()`,
  ],
  isShared: true,
  server: postgresServer,
};
