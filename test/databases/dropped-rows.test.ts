import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-code.js';
import { rowsSource, type Source } from '../../src/index.js';
import { databases, type Place } from './places.js';
import { rejection } from './rejection.js';
import { startVerifying } from './verify-rows.js';

const [, , inPostgres] = databases.find(([name]) => name === 'PostgreSQL') ?? expect.unreachable();
const [, , inSqlite] = databases.find(([name]) => name === 'SQLite') ?? expect.unreachable();

const words =
  /drops what is written, without an error, in row (\d+); change the trigger or the policy/;

const listOf = (rows: number): Source =>
  rowsSource(
    Array.from({ length: rows }, (_, at) => ({ id: at + 1, email: `good${at + 1}@sluice.test` })),
  );

/** Makes a PostgreSQL table whose trigger does as it is told. */
async function withTrigger({ ask, table }: Place, body: string): Promise<void> {
  await ask(
    `CREATE TABLE ${table} (id int PRIMARY KEY, email text)`,
    `CREATE FUNCTION ${table}_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`,
    `CREATE TRIGGER t BEFORE INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_f()`,
  );
}

const drop = (id: number): string => `IF new.id = ${id} THEN RETURN NULL; END IF; RETURN new;`;

describe('a row that a table drops without an error', () => {
  test('ends the run before anything is sent', async () => {
    const place = await inPostgres();
    await withTrigger(place, drop(7));
    const verifying = await startVerifying();
    const run = { source: listOf(9), sink: place.sink({ key: 'id' }), email: ['email'] };
    const error = await rejection(verifying.run(run));
    expect(words.exec(error.message)?.[1]).toBe('7');
    expect(exitCodeOf(error)).toBe(2);
    expect(await verifying.charges()).toBe(0);
  });

  test('does so in SQLite', async () => {
    const place = await inSqlite();
    const { ask, table } = place;
    await ask(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email TEXT)`,
      `CREATE TRIGGER ${table}_t BEFORE INSERT ON ${table} WHEN new.id = 7 BEGIN SELECT RAISE(IGNORE); END`,
    );
    const verifying = await startVerifying();
    const run = { source: listOf(9), sink: place.sink({ key: 'id' }), email: ['email'] };
    const error = await rejection(verifying.run(run));
    expect(words.exec(error.message)?.[1]).toBe('7');
    expect(await verifying.charges()).toBe(0);
  });

  test('leaves the table as it was where only the writing finds it, and is written in time', async () => {
    const place = await inPostgres();
    const { ask, table } = place;
    await withTrigger(place, drop(400));
    const verifying = await startVerifying();
    const run = { source: listOf(450), sink: place.sink({ key: 'id' }), email: ['email'] };
    const error = await rejection(verifying.run(run));
    expect(words.exec(error.message)?.[1]).toBe('400');
    expect(exitCodeOf(error)).toBe(6);
    expect(await ask(`SELECT id FROM ${table}`)).toEqual([]);
    const charges = await verifying.charges();
    await ask(`DROP TRIGGER t ON ${table}`);
    await verifying.run({ ...run, sink: place.sink({ key: 'id' }) });
    expect(await ask(`SELECT count(*)::int AS n FROM ${table}`)).toEqual([{ n: 450 }]);
    expect(await verifying.charges()).toBe(charges);
  });

  test('is a row of the table itself that keeps its old results', async () => {
    const place = await inPostgres();
    const { ask, table } = place;
    await withTrigger(
      place,
      `IF TG_OP = 'UPDATE' AND new.id = 2 THEN RETURN NULL; END IF; RETURN new;`,
    );
    await ask(`INSERT INTO ${table} VALUES (1, 'good1@sluice.test'), (2, 'good2@sluice.test')`);
    const verifying = await startVerifying();
    const source = place.source(`SELECT id, email FROM ${table} ORDER BY id`);
    const error = await rejection(
      verifying.run({ source, sink: place.sink({ key: 'id', isUpdate: true }), email: ['email'] }),
    );
    expect(words.exec(error.message)?.[1]).toBe('2');
    expect(await verifying.charges()).toBe(0);
  });

  test('is none that a trigger changes, or writes in a part of the transaction', async () => {
    const place = await inPostgres();
    const { ask, table } = place;
    await withTrigger(
      place,
      `IF TG_OP = 'UPDATE' OR new.email LIKE 'x%' THEN new.email := lower(new.email); RETURN new; END IF;
       BEGIN INSERT INTO ${table} SELECT new.id, 'x' || new.email; EXCEPTION WHEN unique_violation THEN NULL; END;
       RETURN NULL;`,
    );
    for (const night of [1, 2]) {
      const run = { source: listOf(9), sink: place.sink({ key: 'id' }), email: ['email'] };
      expect([night, (await (await startVerifying()).run(run)).rows]).toEqual([night, 9]);
    }
    expect(await ask(`SELECT count(*)::int AS n FROM ${table}`)).toEqual([{ n: 9 }]);
  });
});
