import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { chargesOf } from '../cli/charges.js';
import { connectTo } from '../cli/connect-to.js';
import { runSluice, startSluice, type Running } from '../cli/run-sluice.js';
import { createService } from '../../src/service/index.js';
import { killableDuckdb } from './duckdb/killable-duckdb.js';
import { listRows, type Killable } from './killable.js';
import { killableMysql } from './mysql/killable-mysql.js';
import { killableSqlite } from './sqlite/killable-sqlite.js';
import { temporaryFolder } from './verify-rows.js';

const databases: readonly (readonly [string, () => Promise<Killable>])[] = [
  ['MySQL and MariaDB', killableMysql],
  ['SQLite', killableSqlite],
  ['DuckDB', killableDuckdb],
];

/** Where a process is killed, the next one after it. */
type Moment = (running: Running, database: Killable, folder: string) => Promise<void>;

const moments: readonly Moment[] = [
  // While the rows are read into the state directory.
  async (running, _, folder) => {
    const kept = join(folder, 'kill_out.sluice', 'input');
    await until(running, async () => ((await stat(kept).catch(() => undefined))?.size ?? 0) > 0);
  },
  // When something may have been paid, and nothing is known of it.
  async (running) => {
    await running.said(/: launching,/);
  },
  // When the transaction is done and not committed.
  async (running, { holdUp, writesTo }) => {
    const held = await holdUp?.();
    if (writesTo !== undefined) {
      await until(
        running,
        async () => ((await stat(writesTo).catch(() => undefined))?.size ?? 0) > 0,
      );
    }
    if (!held) return;
    await until(running, held.hasWaiting);
    running.child.kill('SIGKILL');
    await running.ended;
    await held.release();
  },
  // When the table stands, and before or behind what the journal says of it.
  async (running) => {
    await running.said(/the output is complete/);
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

for (const [name, open] of databases) {
  test(`a killed run leaves all of the table or nothing, pays nothing twice and goes on: ${name}`, async () => {
    const database = await open();
    const cwd = await temporaryFolder();
    const service = await createService();
    onTestFinished(() => service.close());
    const args = [
      'verify',
      'env:DB',
      '--query',
      database.query,
      '-o',
      'env:DB',
      '--verbose',
    ].concat(
      ['--into', database.table, '--key', 'id', '--email', 'email', '--country', 'US'],
      ['--batch-size', '150', '--poll-interval', '10'],
    );
    const options = { cwd, env: { DB: database.url, ...connectTo(service) } };
    for (const moment of moments) {
      const running = startSluice(args, options);
      await moment(running, database, cwd);
      running.child.kill('SIGKILL');
      const { stderr } = await running.ended;
      expectNoPassword(database.url, [stderr, ...(await textsIn(join(cwd, 'kill_out.sluice')))]);
      expect([
        { rows: 1, verified: 0 },
        { rows: listRows, verified: listRows },
      ]).toContainEqual(await database.count());
    }
    // One that was killed behind its very last act is not followed by another.
    if (
      (await stat(join(cwd, 'kill_out.sluice', 'journal')).catch(() => undefined)) !== undefined
    ) {
      const ended = await runSluice(args, options);
      expect(ended.code, ended.stderr).toBe(0);
      expect(await readdir(cwd)).toEqual([]);
    }
    expect(await database.count()).toEqual({ rows: listRows, verified: listRows });
    const paid = (await chargesOf(service)).map(({ address }) => address);
    expect(paid).toHaveLength(listRows);
    expect(new Set(paid).size).toBe(listRows);
  });
}
