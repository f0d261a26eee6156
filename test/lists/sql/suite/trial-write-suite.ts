import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileSource, type Source } from '../../../../src/index.js';
import { expectExit, rejection } from '../harness/rejection.js';
import { startVerifying } from '../harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';
import type { Database, Place } from './database.js';

async function listOf(lines: readonly string[]): Promise<Source> {
  const path = join(await withFolder(), 'list.csv');
  await writeFile(path, lines.map((line) => `${line}\n`).join(''));
  return fileSource(path);
}

interface Case {
  readonly what: string;
  /** Columns of the table beside `id` and `email`. */
  readonly columns: string;
  /** Statements before the table is made. */
  readonly before?: (table: string) => readonly string[];
  readonly list: readonly string[];
  /** The fields of the error; not every database names the column or the constraint. */
  readonly error: object;
  /** The constraint, in words of the database. */
  readonly named?: RegExp;
  /** Of a kind that some databases refuse nothing of. */
  readonly kind?: Database['takes'][number];
}

const many = Array.from({ length: 3000 }, (_, at) => `${at + 10},good${at}@sluice.test,7`);

const cases: readonly Case[] = [
  {
    what: 'a column that takes no null and that the input lacks',
    columns: 'branch VARCHAR(20) NOT NULL',
    list: ['id,email', '7,good7@sluice.test'],
    error: { fault: 'null', column: 'branch' },
  },
  {
    what: 'a text for a column of integers',
    columns: 'age INTEGER',
    list: ['id,email,age', '7,good7@sluice.test,', '8,good8@sluice.test,private'],
    error: { fault: 'misfit', column: 'age' },
    kind: 'text as integer',
  },
  {
    what: 'such a text far behind the first rows',
    columns: 'age INTEGER',
    list: ['id,email,age', ...many, '9,good9@sluice.test,private'],
    error: { fault: 'misfit', column: 'age' },
    kind: 'text as integer',
  },
  {
    what: 'a text that is too long for its column, far behind the first rows',
    columns: 'code VARCHAR(3)',
    list: ['id,email,code', ...many, '9,good9@sluice.test,private'],
    error: { fault: 'too_long', column: 'code' },
    kind: 'long text',
  },
  {
    what: 'a row that breaks a CHECK',
    columns: 'age INTEGER, CONSTRAINT adult CHECK (age > 17)',
    list: ['id,email,age', '7,good7@sluice.test,18', '8,good8@sluice.test,3'],
    error: { fault: 'check' },
    named: /adult|age > 17/,
  },
  {
    what: 'a row that points to none',
    columns: 'team INTEGER',
    before: (table) => [
      `CREATE TABLE ${table}_teams (id INTEGER PRIMARY KEY)`,
      `INSERT INTO ${table}_teams VALUES (1)`,
    ],
    list: ['id,email,team', '7,good7@sluice.test,1', '8,good8@sluice.test,2'],
    error: { fault: 'foreign_key' },
  },
  {
    what: 'a result that a column from before does not take',
    columns: 'email_reason VARCHAR(5)',
    list: ['id,email', '7,good7@sluice.test'],
    error: { fault: 'too_long', column: 'email_reason' },
    kind: 'long text',
  },
  {
    what: 'a result that a CHECK from before does not take',
    columns:
      "email_verification VARCHAR(20), CONSTRAINT known CHECK (email_verification <> 'failed')",
    list: ['id,email', '7,good7@sluice.test'],
    error: { fault: 'check' },
    named: /known|failed/,
  },
];

async function makeTable({ ask, table }: Place, { columns, before, what }: Case): Promise<void> {
  const foreign =
    what === 'a row that points to none'
      ? `, FOREIGN KEY (team) REFERENCES ${table}_teams (id)`
      : '';
  await ask(
    ...(before?.(table) ?? []),
    `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email VARCHAR(80), ${columns}${foreign})`,
  );
}

export function describeTrialWrite({ open, takes }: Database): void {
  describe('before anything is sent, it tells', () => {
    const refused = cases.filter(({ kind }) => kind === undefined || !takes.includes(kind));
    for (const each of refused) {
      test(`of ${each.what}`, async () => {
        const place = await open();
        const { table, ask } = place;
        await makeTable(place, each);
        const verifying = await startVerifying();
        const run = { sink: place.sink({ key: 'id' }), email: ['email'] };
        const error = await rejection(verifying.run({ ...run, source: await listOf(each.list) }));
        expect(error).toMatchObject(each.error);
        if (each.named) expect(error.message).toMatch(each.named);
        expect(error.message).not.toContain('private');
        expectExit(error, 2);
        expect(await verifying.charges()).toBe(0);
        expect((await verifying.client.listBatches()).length).toBe(0);
        expect(await ask(`SELECT * FROM ${table}`)).toEqual([]);
        expect(await rejection(ask(`SELECT email_is_role FROM ${table}`))).toBeInstanceOf(Error);
      });
    }

    test('nothing of a table that takes the results, and leaves no trace', async () => {
      const place = await open();
      const { table, ask } = place;
      await ask(
        `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email VARCHAR(80), age INTEGER CHECK (age > 17))`,
        `INSERT INTO ${table} VALUES (7, 'old@sluice.test', 20)`,
      );
      const verifying = await startVerifying();
      let seen: readonly unknown[] = [];
      const summary = await verifying.run({
        source: await listOf(['id,email,age', '7,good7@sluice.test,', '8,bad8@sluice.test,18']),
        sink: {
          ...place.sink({ key: 'id' }),
          async open(opening) {
            seen = await ask(`SELECT * FROM ${table}`);
            return place.sink({ key: 'id' }).open(opening);
          },
        },
        email: ['email'],
      });
      expect(seen).toEqual([{ id: 7, email: 'old@sluice.test', age: 20 }]);
      expect(summary.rows).toBe(2);
      const rows = await ask(`SELECT id, age, email_wrong AS w FROM ${table} ORDER BY id`);
      expect(rows.map(({ id, age, w }) => [id, age, Number(w)])).toEqual([
        [7, null, 0],
        [8, 18, 1],
      ]);
    });

    test('nothing of a new table, which is not there after a dry trial write', async () => {
      const place = await open();
      const { table, ask } = place;
      const verifying = await startVerifying();
      const sink = place.sink({ key: 'id' });
      const summary = await verifying.run({
        source: await listOf(['id,email', '7,good7@sluice.test', '8,bad8@sluice.test']),
        sink: {
          ...sink,
          async open(opening) {
            const found = await rejection(ask(`SELECT * FROM ${table}`));
            expect(found).toBeInstanceOf(Error);
            return sink.open(opening);
          },
        },
        email: ['email'],
      });
      expect(summary.rows).toBe(2);
    });
  });
}
