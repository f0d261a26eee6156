import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { csvCells } from '../../../cli/harness/csv-cells.js';
import { eventsOf } from '../../../cli/harness/logged-events.js';
import { runInProcess } from '../../../cli/harness/run-in-process.js';
import { startSluice } from '../../../cli/harness/run-sluice.js';
import { migrationSql } from '../../../../src/engine/stores/postgres/schema.js';
import { askDuckdb } from '../duckdb/ask-duckdb.js';
import { askMysql } from '../mysql/ask-mysql.js';
import { askPostgres } from '../postgres/ask-postgres.js';
import { askSqlite } from '../sqlite/ask-sqlite.js';
import { withFolder } from '../../../service/with-service.js';

const secret = (): string => decodeURIComponent(new URL(inject('postgresUrl')).password);

const contacts = new URL('../../../../examples/contacts.csv', import.meta.url).pathname;

describe('sluice verify with a database', () => {
  test('takes rows from one and puts them into one, and says no password', async () => {
    const cwd = await withFolder();
    await askPostgres(
      "CREATE TABLE cli_contacts AS SELECT i AS id, 'good' || i || '@sluice.test' AS email FROM generate_series(1, 100) i",
    );
    const args = ['verify', 'env:LIST', '--query', 'SELECT id, email FROM cli_contacts'];
    const rest = ['--into', 'cli_verified', '--key', 'id', '--email', 'email', '--country', 'US'];
    const run = async (...more: readonly string[]) =>
      runInProcess([...args, '-o', inject('postgresUrl'), ...rest, ...more], {
        cwd,
        env: { LIST: inject('postgresUrl') },
      });
    const unmeant = await run();
    expect(unmeant).toMatchObject({ code: 2 });
    expect(unmeant.stderr).toContain('--local');

    const ended = await run('--local', '--verbose', '--summary', '-');
    expect(ended.stderr).not.toContain('local service');
    expect(ended).toMatchObject({ code: 0 });
    expect(
      await askPostgres('SELECT count(*)::int AS n FROM cli_verified WHERE email_valid'),
    ).toEqual([{ n: 100 }]);
    expect(await readdir(cwd)).toEqual([]);
    for (const message of [unmeant.stderr, ended.stderr, ended.stdout.toString()]) {
      expect(message).not.toContain(secret());
      expect(message).not.toContain(encodeURIComponent(secret()));
    }
    expect(JSON.parse(ended.stdout.toString())).toMatchObject({
      output: expect.stringMatching(/^cli_verified in postgres:\/\/postgres@127/) as unknown,
    });
  });

  test('names the tables that it finds, and none of a store of shared runs', async () => {
    const url = inject('postgresUrl');
    await askPostgres(migrationSql('guide_store'));
    await askPostgres('CREATE SCHEMA guided CREATE TABLE run (mail text PRIMARY KEY)');
    const found = await runInProcess(['verify', url, '--country', 'US'], {
      cwd: await withFolder(),
    });
    expect(found.code).toBe(2);
    const names = JSON.stringify(eventsOf(found, 'found_table'));
    expect(names).toContain('guided.run');
    expect(names).not.toContain('guide_store');
  });

  test('reads a file into a table, and a table into files', async () => {
    const cwd = await withFolder();
    const url = inject('postgresUrl');
    const columns = ['--email', 'email', '--country', 'US'];
    const into = await runInProcess(
      ['verify', contacts, '-o', url, '--into', 'from_csv', '--key', 'id', '--local', ...columns],
      { cwd },
    );
    expect(into).toMatchObject({ code: 0 });
    const csv = join(cwd, 'direct.csv');
    await runInProcess(['verify', contacts, '-o', csv, '--local', ...columns], { cwd });
    const query = `SELECT id, first_name, last_name, company, email, mobile, city, country, notes FROM from_csv ORDER BY id`;
    const back = await runInProcess(
      ['verify', url, '--query', query, '-o', 'back.csv', '--local', ...columns],
      { cwd },
    );
    expect(back).toMatchObject({ code: 0 });
    const cells = async (name: string): Promise<string[][]> => {
      const [, ...rows] = csvCells(await readFile(join(cwd, name)));
      return rows.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    };
    expect(await cells('back.csv')).toEqual(await cells('direct.csv'));
  });

  const rows = "as select 'good1@sluice.test' as email";
  const quoted = `create table "! order" ${rows}`;
  test.each([
    ['PostgreSQL', () => inject('postgresUrl'), async () => askPostgres(quoted)],
    [
      'MySQL',
      () => inject('mysqlUrl'),
      async () => askMysql(`create table \`! order\` (email varchar(50) primary key) ${rows}`),
      async () => askMysql('select email, email_verification from `! order`'),
    ],
    [
      'DuckDB',
      (cwd: string) => `duckdb:${join(cwd, 'list.db')}`,
      async (cwd: string) => askDuckdb(join(cwd, 'list.db'), quoted),
    ],
    [
      'SQLite',
      (cwd: string) => `sqlite:${join(cwd, 'list.db')}`,
      async (cwd: string) => askSqlite(join(cwd, 'list.db'), quoted, 'select 1'),
    ],
  ])(
    'proposes a query that %s takes',
    async (_, urlIn, create, written?: () => Promise<unknown[]>) => {
      const [cwd, env] = [await withFolder(), { LIST: '' }];
      env.LIST = urlIn(cwd);
      await create(cwd);
      const list = ['verify', 'env:LIST', '--email', 'email', '--country', 'US', '--local'];
      const refused = await runInProcess(list, { cwd, env });
      expect(refused).toMatchObject({ code: 2 });
      if (written) {
        const [line = ''] = /^sluice verify .* -o env:LIST .*$/m.exec(refused.stderr) ?? [];
        const { stdout } = await promisify(execFile)('sh', ['-c', `printf '%s\\0' ${line}`]);
        await runInProcess(stdout.split('\0').slice(1, -1), { cwd, env });
        const result = { email: 'good1@sluice.test', email_verification: 'verified' };
        expect(await written(), line).toEqual([result]);
        return;
      }
      const [, query = ''] = /^sluice verify .*--query '([^']+)'/m.exec(refused.stderr) ?? [];
      const ended = await runInProcess([...list, '--query', query], { cwd, env });
      expect(csvCells(ended.stdout)[1]?.slice(0, 2)).toEqual(['good1@sluice.test', 'verified']);
    },
  );

  test('streams to standard output', async () => {
    const query =
      "SELECT i, 'good' || i || '@sluice.test' AS email FROM generate_series(1, 300) i ORDER BY i DESC";
    const streamed = await runInProcess(
      ['verify', 'env:DB', '--query', query, '--local', '--email', 'email', '--country', 'US'],
      { env: { DB: inject('postgresUrl') } },
    );
    const rows = csvCells(streamed.stdout);
    expect(rows).toHaveLength(301);
    expect(rows[1]?.slice(0, 5)).toEqual(['300', 'good300@sluice.test', 'verified', '', 'true']);
  });

  test.each([
    ['no query', ['DB'], /--query/],
    ['a query for a file', [contacts, '--query', 'SELECT 1'], /--query/],
    ['no table', ['DB', '--query', 'SELECT 1 AS email', '-o', 'sqlite:a.db'], /--into/],
    ['a table for a file', [contacts, '--into', 'x'], /--into/],
    ['a form for a database', ['DB', '--query', 'SELECT 1', '--sheet', '2'], /--sheet/],
    ['an unknown scheme', ['oracle://u:geheim@h/d'], /oracle:/],
    ['a scheme that is misspelt', ['-o', 'postgre://u:geheim@h/d', contacts], /postgre:/],
    ['a variable that is not there', ['env:NOWHERE'], /NOWHERE/],
    ['a variable that holds no URL', ['env:ODD'], /env:ODD/],
    ['two inputs', ['postgres://u:geheim@h/d', 'b'], /postgres:\/\/…@h\/d, b/],
    [
      'an unreadable URL',
      ['postgres://u:geheim@:x/', '--query', 'SELECT 1'],
      /:\/\/user:password@/,
    ],
  ])('ends with 2 for %s', async (_, args, words) => {
    const cwd = await withFolder();
    const given = args.map((arg) => (arg === 'DB' ? inject('postgresUrl') : arg));
    const ended = await runInProcess(
      ['verify', ...given, '--email', 'email', '--country', 'US', '--local'],
      { cwd, env: { ODD: 'geheim' } },
    );
    expect(eventsOf(ended, 'error')).toMatchObject([
      { code: 'invalid_option', message: expect.stringMatching(words) },
    ]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).not.toContain('geheim');
    expect(ended.stderr).not.toContain(secret());
    expect(await readdir(cwd)).toEqual([]);
  });

  test('ends with 2 for a wrong password, and for a missing table', async () => {
    const cwd = await withFolder();
    const url = new URL(inject('postgresUrl'));
    url.password = 'geheim';
    const common = ['--email', 'email', '--country', 'US', '--local'];
    const refused = await runInProcess(['verify', 'env:DB', '--query', 'SELECT 1', ...common], {
      cwd,
      env: { DB: url.href },
    });
    expect(refused).toMatchObject({ code: 2 });
    expect(eventsOf(refused, 'error')).toMatchObject([{ code: 'invalid_option' }]);
    expect(refused.stderr).not.toContain('geheim');
    const missing = await runInProcess(
      ['verify', 'env:DB', '--query', 'SELECT * FROM nowhere', ...common],
      { cwd, env: { DB: inject('postgresUrl') } },
    );
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain('relation "nowhere" does not exist');
  });

  test('killed at any moment leaves all of the table or nothing, and goes on', async () => {
    const cwd = await withFolder();
    const query =
      "SELECT i AS id, 'good' || i || '@sluice.test' AS email, repeat('x', 200) AS filling FROM generate_series(1, 2000) i";
    const args =
      'verify env:DB -o env:DB --into killed --email email --country US --local --json-log --batch-size 500'
        .split(' ')
        .concat('--query', query);
    const env = { DB: inject('postgresUrl') };
    let isOver = false;
    for (const [moment, fields] of [
      ['batch', { stage: 'exported' }],
      ['written', {}],
    ] as const) {
      const running = startSluice(args, { cwd, env });
      await Promise.race([running.reported(moment, fields), running.ended]);
      running.child.kill('SIGKILL');
      isOver = (await running.ended).code === 0;
      const [{ n } = { n: 0 }] = await askPostgres(
        "SELECT CASE WHEN to_regclass('killed') IS NULL THEN 0 ELSE (xpath('/row/c/text()', query_to_xml('SELECT count(*) AS c FROM killed', false, true, '')))[1]::text::int END AS n",
      );
      expect([0, 2000]).toContain(n);
    }
    // The kill that comes with the last word may be too late.
    if (!isOver) {
      const ended = await runInProcess(args, { cwd, env });
      expect(ended.code, ended.stderr).toBe(0);
    }
    expect(await askPostgres('SELECT count(*)::int AS n FROM killed WHERE email_valid')).toEqual([
      { n: 2000 },
    ]);
    expect(await readdir(cwd)).toEqual([]);
  });
});
