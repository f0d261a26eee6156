import { setTimeout } from 'node:timers/promises';
import { describe, expect, inject, test } from 'vitest';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { RunProgress } from '../../src/index.js';
import { changeFirst } from './change-first.js';
import { databases, type Place } from './places.js';
import { startVerifying } from './verify-rows.js';

async function makePeople({ ask, table }: Place): Promise<void> {
  await ask(
    `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email VARCHAR(80), note VARCHAR(20))`,
    `INSERT INTO ${table} (id, email) VALUES (1, 'good1@sluice.test'), (2, 'good2@sluice.test'), (3, 'bad3@sluice.test'), (4, 'GOOD4@sluice.test'), (5, NULL)`,
  );
}

describe('rows of a table that another session changes while they are verified', () => {
  for (const [name, isThere, open] of databases) {
    describe.skipIf(!isThere)(`of ${name}`, () => {
      test('get no result of what they were, and are counted and named', async () => {
        const place = await open();
        await makePeople(place);
        const verifying = await startVerifying();
        const { table } = place;
        const summary = await verifying.run({
          source: place.source(`SELECT id, email FROM ${table}`),
          sink: changeFirst(place.sink({ key: 'id' }), () =>
            place.ask(
              `UPDATE ${table} SET email = 'bad1@sluice.test' WHERE id = 1`,
              `DELETE FROM ${table} WHERE id = 2`,
              // The same address, and another text.
              `UPDATE ${table} SET email = 'good4@sluice.test' WHERE id = 4`,
              `UPDATE ${table} SET note = 'new', email = 'good5@sluice.test' WHERE id = 5`,
              `UPDATE ${table} SET note = 'new' WHERE id = 3`,
            ),
          ),
          email: ['email'],
        });
        expect(summary.left_alone).toEqual({ changed: 3, gone: 1, keys: ['1', '2', '4', '5'] });
        const rows = await place.ask(
          `SELECT id, note, email_verification AS v, email_wrong AS w FROM ${table} ORDER BY id`,
        );
        expect(rows.map(({ id, note, v, w }) => [id, note, v, w && Number(w)])).toEqual([
          [1, null, null, null],
          [3, 'new', 'verified', 1],
          [4, null, null, null],
          [5, 'new', null, null],
        ]);
      });

      test('are compared by the column that the query shows under another name', async () => {
        const place = await open();
        await makePeople(place);
        const verifying = await startVerifying();
        const { table } = place;
        const said: RunProgress[] = [];
        const summary = await verifying.run({
          source: place.source(`SELECT id, email AS mail FROM ${table}`),
          sink: changeFirst(place.sink({ key: 'id', isUpdate: true }), () =>
            place.ask(`UPDATE ${table} SET email = 'bad1@sluice.test' WHERE id = 1`),
          ),
          email: ['mail'],
          onProgress: (progress) => said.push(progress),
        });
        const notices = said.flatMap((each) => (each.stage === 'notice' ? [each.message] : []));
        // DuckDB keeps no origins: what cannot be compared is said.
        if (name === 'DuckDB') expect(notices.join()).toContain('column "mail" is no column of');
        else expect(summary.left_alone).toEqual({ changed: 1, gone: 0, keys: ['1'] });
      });

      test('are not spoken of where nothing changed', async () => {
        const place = await open();
        await makePeople(place);
        const verifying = await startVerifying();
        const summary = await verifying.run({
          source: place.source(`SELECT id, email FROM ${place.table}`),
          sink: place.sink({ key: 'id' }),
          email: ['email'],
        });
        expect(summary).not.toHaveProperty('left_alone');
      });
    });
  }
});

/** A session that has changed a row and commits when it is told to. */
interface OpenChange {
  commit(): Promise<void>;
  /** Whether another session waits for it. */
  isWaitedFor(): Promise<boolean>;
}

async function changeInPostgres(table: string): Promise<OpenChange> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  await client.query('BEGIN');
  await client.query(`UPDATE ${table} SET email = 'bad1@sluice.test' WHERE id = 1`);
  return {
    async commit() {
      await client.query('COMMIT');
      await client.end();
    },
    async isWaitedFor() {
      const { rows } = await client.query(
        'SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))',
      );
      return rows.length > 0;
    },
  };
}

async function changeInMariadb(table: string): Promise<OpenChange> {
  const session = await mysql.createConnection({ uri: inject('mysqlUrl') });
  await session.query('START TRANSACTION');
  await session.query(`UPDATE ${table} SET email = 'bad1@sluice.test' WHERE id = 1`);
  return {
    async commit() {
      await session.query('COMMIT');
      await session.end();
    },
    async isWaitedFor() {
      // The server looks again only when nobody has asked for a tenth of a second.
      await setTimeout(150);
      const [rows] = await session.query(
        "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'",
      );
      return Array.isArray(rows) && rows.length > 0;
    },
  };
}

const changes = new Map([
  ['PostgreSQL', changeInPostgres],
  ['MariaDB', changeInMariadb],
]);

describe('a row that another session has changed and not yet committed', () => {
  for (const [name, isThere, open] of databases) {
    const change = changes.get(name);
    if (!change) continue;
    test.skipIf(!isThere)(`is waited for, and gets no result of what it was: ${name}`, async () => {
      const place = await open();
      const { table } = place;
      await makePeople(place);
      const verifying = await startVerifying();
      const run = {
        source: place.source(`SELECT id, email FROM ${table}`),
        email: ['email'],
      };
      // The columns are there from then on.
      await verifying.run({ ...run, sink: place.sink({ key: 'id' }) });
      await place.ask(`UPDATE ${table} SET email_verification = NULL, email_wrong = NULL`);
      let committed: Promise<void> | undefined;
      const sink = place.sink({ key: 'id' });
      const summary = await verifying.run({
        ...run,
        sink: changeFirst(sink, async () => {
          const other = await change(table);
          committed = (async () => {
            while (!(await other.isWaitedFor()));
            await other.commit();
          })();
        }),
      });
      await committed;
      expect(summary.left_alone).toEqual({ changed: 1, gone: 0, keys: ['1'] });
      const [row] = await place.ask(
        `SELECT email, email_verification AS v FROM ${table} WHERE id = 1`,
      );
      expect(row).toEqual({ email: 'bad1@sluice.test', v: null });
    });
  }
});
