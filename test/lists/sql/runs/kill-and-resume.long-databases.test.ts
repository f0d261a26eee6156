import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'libsql';
import { expect, onTestFinished, test } from 'vitest';
import { chargesOf } from '../../../cli/harness/charges.js';
import { connectTo } from '../../../cli/harness/connect-to.js';
import { runSluice, startSluice, type Running } from '../../../cli/harness/run-sluice.js';
import { createService } from '../../../../src/service/index.js';
import { duckdb } from '../duckdb/duckdb-database.js';
import { mariadb } from '../mysql/mysql-database.js';
import { postgres } from '../postgres/postgres-database.js';
import { sqlite } from '../sqlite/sqlite-database.js';
import type { Place, Session } from '../suite/database.js';
import { withFolder } from '../../../service/with-service.js';

/** Rows of the list; the last one is in the table already. */
const listRows = 400;

/** Makes the table with its added columns: a statement that adds them would wait for whoever holds a row up. */
async function makeTable({ ask, table }: Place): Promise<void> {
  const texts = ['verification', 'reason', 'quality', 'result'];
  const flags = ['valid', 'wrong', 'unknown', 'is_syntax_error', 'is_free', 'is_role'].concat([
    'is_disposable',
    'is_catch_all',
  ]);
  const columns = [
    'id INTEGER PRIMARY KEY',
    ...['email', 'filling', ...texts.map((name) => `email_${name}`)].map((name) => `${name} TEXT`),
    ...flags.map((name) => `email_${name} BOOLEAN`),
    "note VARCHAR(20) DEFAULT 'kept' NOT NULL",
  ];
  await ask(
    `CREATE TABLE ${table} (${columns.join(', ')})`,
    `INSERT INTO ${table} (id) VALUES (${listRows})`,
  );
}

/** Rows of the table, and those of them that bear results of the service. */
async function count({ ask, table }: Place): Promise<object> {
  const ids = async (condition: string): Promise<number> =>
    (await ask(`SELECT id FROM ${table} WHERE ${condition}`)).length;
  return {
    rows: await ids('id > 0'),
    verified: await ids("email_verification = 'verified' AND note = 'kept'"),
  };
}

const pathOf = (url: string): string => url.slice(url.indexOf(':') + 1);

async function hasBytes(path: string): Promise<boolean> {
  return ((await stat(path).catch(() => undefined))?.size ?? 0) > 0;
}

type HoldUp = Pick<Session, 'isWaitedFor' | 'end'>;

async function holdRow(session: Session | undefined, { table }: Place): Promise<HoldUp> {
  await session?.query(`SELECT * FROM ${table} WHERE id = ${listRows} FOR UPDATE`);
  return session ?? expect.unreachable();
}

/** Who reads an SQLite file keeps a writer from its commit, and from nothing before. */
async function holdFile({ table, url }: Place): Promise<HoldUp> {
  const reader = new Database(pathOf(url));
  reader.exec('BEGIN');
  reader.prepare(`SELECT * FROM ${table}`).all();
  return {
    isWaitedFor: () => hasBytes(`${pathOf(url)}-journal`),
    async end() {
      reader.exec('ROLLBACK');
      reader.close();
    },
  };
}

/** Databases, and what keeps a transaction from being committed in them. */
const databases = [
  [postgres, async (place: Place) => holdRow(await postgres.server?.openSession(), place)],
  [mariadb, async (place: Place) => holdRow(await mariadb.server?.openSession(), place)],
  [sqlite, holdFile],
  // Nobody else can open the file: the process is killed while it works at its commit.
  [
    duckdb,
    async ({ url }: Place): Promise<HoldUp> => ({
      isWaitedFor: () => hasBytes(`${pathOf(url)}.wal`),
      end: async () => undefined,
    }),
  ],
] as const;

/** Where a process is killed, the next one after it. */
type Moment = (running: Running, hold: () => Promise<HoldUp>, kept: string) => Promise<void>;

const moments: readonly Moment[] = [
  // While the rows are read into the state directory.
  async (running, _, folder) => {
    await until(running, () => hasBytes(join(folder, 'input')));
  },
  // When something may have been paid, and nothing is known of it.
  async (running) => {
    await running.reported('batch', { stage: 'launching' });
  },
  // When the transaction is done and not committed.
  async (running, hold) => {
    const held = await hold();
    await until(running, held.isWaitedFor);
    running.child.kill('SIGKILL');
    await running.ended;
    await held.end();
  },
  // When the table stands, and before or behind what the journal says of it.
  async (running) => {
    await running.reported('written');
  },
];

async function until(running: Running, isSo: () => Promise<boolean>): Promise<void> {
  let isOver = false;
  void running.ended.finally(() => (isOver = true));
  while (!isOver && !(await isSo())) await pause(1);
  expect(isOver).toBe(false);
}

/** All that a state directory holds. */
async function textsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')));
}

function expectNoPassword(url: string, texts: readonly string[]): void {
  if (!url.includes('@')) return;
  const { password } = new URL(url);
  for (const text of texts) {
    expect(text).not.toContain(password);
    expect(text).not.toContain(decodeURIComponent(password));
  }
}

test.each(databases.map(([database, hold]) => [database.name, database, hold] as const))(
  'a killed run leaves all of the table or nothing, pays nothing twice and goes on: %s',
  async (_, { numbers, open }, hold) => {
    const place = await open();
    const { table, url } = place;
    await makeTable(place);
    const cwd = await withFolder();
    const state = join(cwd, `${table}.sluice`);
    const service = await createService();
    onTestFinished(() => service.close());
    const query = `SELECT i AS id, concat('good', i, '@sluice.test') AS email, '${'x'.repeat(5000)}' AS filling FROM ${numbers(listRows)}`;
    const args = ['verify', 'env:DB', '--query', query, '-o', 'env:DB', '--json-log'].concat(
      ['--into', table, '--key', 'id', '--email', 'email', '--country', 'US'],
      ['--batch-size', '150', '--poll-interval', '10'],
    );
    const options = { cwd, env: { DB: url, ...connectTo(service) } };
    for (const moment of moments) {
      const running = startSluice(args, options);
      await moment(running, () => hold(place), state);
      running.child.kill('SIGKILL');
      const { stderr } = await running.ended;
      expectNoPassword(url, [stderr, ...(await textsIn(state))]);
      expect([
        { rows: 1, verified: 0 },
        { rows: listRows, verified: listRows },
      ]).toContainEqual(await count(place));
    }
    // One that was killed behind its very last act is not followed by another.
    if (await hasBytes(join(state, 'journal'))) {
      const ended = await runSluice(args, options);
      expect(ended.code, ended.stderr).toBe(0);
      expect(await readdir(cwd)).toEqual([]);
    }
    expect(await count(place)).toEqual({ rows: listRows, verified: listRows });
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(paid).toHaveLength(listRows);
    expect(new Set(paid).size).toBe(listRows);
  },
);
