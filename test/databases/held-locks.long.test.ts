import mysql from 'mysql2/promise';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { changeFirst } from './change-first.js';
import { databases, type DatabaseName, type Place } from './places.js';
import { startVerifying } from './verify-rows.js';

/** A transaction that has read a table, and lets nobody change its columns until it ends. */
type Hold = (table: string) => Promise<() => Promise<void>>;

const holds = new Map<DatabaseName, Hold>([
  [
    'PostgreSQL',
    async (table) => {
      const client = new pg.Client({ connectionString: inject('postgresUrl') });
      await client.connect();
      await client.query('BEGIN');
      await client.query(`SELECT * FROM ${table}`);
      return () => client.end();
    },
  ],
  [
    'MariaDB',
    async (table) => {
      const session = await mysql.createConnection({ uri: inject('mysqlUrl') });
      await session.query('START TRANSACTION');
      await session.query(`SELECT * FROM ${table}`);
      return () => session.end();
    },
  ],
]);

async function makePeople({ ask, table }: Place): Promise<void> {
  await ask(
    `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email VARCHAR(80))`,
    `INSERT INTO ${table} VALUES (1, 'good1@sluice.test'), (2, 'bad2@sluice.test')`,
  );
}

for (const [name, isThere, open] of databases) {
  const hold = holds.get(name);
  if (!hold) continue;

  test.skipIf(!isThere)(
    `columns are added when a transaction of another session is over, which is said, and readers are let in meanwhile: ${name}`,
    async () => {
      const place = await open();
      const { table, ask } = place;
      await makePeople(place);
      const verifying = await startVerifying();
      let release: (() => Promise<void>) | undefined;
      const said: string[] = [];
      const read: unknown[] = [];
      await verifying.run({
        source: place.source(`SELECT id, email FROM ${table}`),
        sink: changeFirst(place.sink({ key: 'id' }), async () => {
          release = await hold(table);
        }),
        email: ['email'],
        onProgress(progress) {
          if (progress.stage !== 'notice') return;
          said.push(progress.message);
          // Answered while the other transaction is open, and this run still wants to change the table.
          void ask(`SELECT id FROM ${table}`).then(async (rows) => {
            read.push(...rows);
            await release?.();
          });
        },
      });
      expect(said.join('\n')).toMatch(/^another session holds a lock on t_\w+ in .*: trying again/);
      expect(read).toHaveLength(2);
      const rows = await ask(`SELECT id, email_verification AS v FROM ${table} ORDER BY id`);
      expect(rows.map(({ v }) => v)).toEqual(['verified', 'verified']);
    },
  );
}

test('a table that is held for the whole rehearsal does not end the run, which says so', async () => {
  const [, , open] = databases[0] ?? [];
  const place = await open?.();
  if (!place) throw new Error('there is no database');
  await makePeople(place);
  const release = await holds.get('PostgreSQL')?.(place.table);
  const verifying = await startVerifying();
  const said: string[] = [];
  let isSent = false;
  const summary = await verifying.run({
    source: place.source(`SELECT id, email FROM ${place.table}`),
    sink: place.sink({ key: 'id' }),
    email: ['email'],
    onProgress(progress) {
      if (progress.stage === 'batch') isSent = true;
      if (progress.stage !== 'notice') return;
      said.push(progress.message);
      if (isSent) void release?.();
    },
  });
  expect(summary.rows).toBe(2);
  expect(said).toContainEqual(expect.stringContaining('whether it takes the results is not known'));
  expect(
    await place.ask(`SELECT count(*)::int AS n FROM ${place.table} WHERE email_valid IS NOT NULL`),
  ).toEqual([{ n: 2 }]);
});
