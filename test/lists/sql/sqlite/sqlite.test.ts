import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/process/exit-code.js';
import { fileSink, rowsSource } from '../../../../src/index.js';
import { readAll } from '../harness/carry.js';
import { rejection } from '../harness/rejection.js';
import { describeDatabase } from '../suite/describe-database.js';
import type { Place } from '../suite/database.js';
import { countIn, makePeople } from '../suite/people.js';
import { startVerifying } from '../harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';
import { systemClock } from '../../../../src/platform/waiting/clock.js';
import { type Notice, noticeOf } from '../../../../src/platform/text/notices.js';
import { sqlite } from './sqlite-database.js';
import { askSqlite } from './ask-sqlite.js';
import { sqliteSink, sqliteSource } from '../../../../src/lists/sql/sqlite/index.js';

describeDatabase(sqlite);

async function openPeople(): Promise<Place> {
  const place = await sqlite.open();
  await makePeople(place);
  return place;
}

/** Verifies the table's own rows. */
const own = ({ sink, source, table }: Place) => ({
  source: source(`SELECT id, email FROM ${table}`),
  sink: sink({ key: 'id' }),
  email: ['email'],
});

describe('a table in an SQLite file', () => {
  test('has no text that is none, which is said', async () => {
    const { source } = await openPeople();
    const error = await rejection(readAll(source("SELECT CAST(x'ff41' AS TEXT) AS odd")));
    expect(error).toMatchObject({ code: 'input_malformed', fault: 'encoding', column: 'odd' });
  });

  test('gets small letters also where capitals and small letters are the same', async () => {
    const place = await openPeople();
    const { ask, table } = place;
    await ask(
      `ALTER TABLE ${table} ADD COLUMN email_verification TEXT COLLATE NOCASE DEFAULT 'VERIFIED'`,
    );
    const source = place.source(`SELECT id, email FROM ${table} WHERE id < 3`);
    await (await startVerifying()).run({ ...own(place), source });
    expect(await ask(`SELECT email_verification AS v FROM ${table} ORDER BY id LIMIT 3`)).toEqual([
      { v: 'verified' },
      { v: 'verified' },
      { v: 'VERIFIED' },
    ]);
  });

  test('is waited for, without a key, without the claim that a run with a key ends with', async () => {
    const place = await sqlite.open();
    const release = await place.sink({ key: 'id' }).hold?.();
    let locks: readonly unknown[] = [];
    const sleep = async (): Promise<void> => {
      locks = (await place.traces()).filter((name) => String(name).endsWith('.lock'));
      await release?.();
    };
    const clock = { ...systemClock, sleep };
    const releaseOther = await place.sink().hold?.({ waitLockMs: 60_000, clock });
    expect(locks).toHaveLength(1);
    await releaseOther?.();
  });

  test('has one row for a key in capitals and small letters where they are the same', async () => {
    const { ask, sink, table } = await sqlite.open();
    await ask(`CREATE TABLE ${table} (email TEXT PRIMARY KEY COLLATE NOCASE)`);
    const verifying = await startVerifying();
    const run = verifying.run({
      source: rowsSource(['ann@sluice.test', 'Ann@sluice.test'].map((email) => ({ email }))),
      sink: sink({ key: 'email' }),
      email: ['email'],
    });
    expect(await rejection(run)).toMatchObject({ fault: 'repeated', rows: [1, 2] });
    expect(await verifying.charges()).toBe(0);
  });

  test('has one row for keys that are one number there', async () => {
    const { ask, sink, table } = await sqlite.open();
    await ask(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email TEXT)`,
      `INSERT INTO ${table} VALUES (1, '')`,
    );
    const verifying = await startVerifying();
    const run = verifying.run({
      source: rowsSource(['01', '1'].map((id) => ({ id, email: 'good1@sluice.test' }))),
      sink: sink({ key: 'id' }),
      email: ['email'],
    });
    expect(await rejection(run)).toMatchObject({ fault: 'repeated', rows: [1, 2] });
    expect(await verifying.charges()).toBe(0);
  });

  test('is as it was when it refuses a row, which is reported before anything is sent', async () => {
    const place = await openPeople();
    const { ask, table } = place;
    await ask(
      `CREATE TRIGGER refuse BEFORE UPDATE ON ${table} WHEN NEW.id = 4 BEGIN SELECT RAISE(ABORT, 'refused'); END`,
    );
    const verifying = await startVerifying();
    expect(await rejection(verifying.run(own(place)))).toMatchObject({ code: 'invalid_option' });
    expect(await verifying.charges()).toBe(0);
    expect(await ask(`SELECT name FROM pragma_table_info('${table}')`)).toHaveLength(3);
    await ask('DROP TRIGGER refuse');
    await verifying.run(own(place));
    expect(await countIn(place, 'email_valid IS NOT NULL')).toBe(5);
  });

  test('that is STRICT gets the added columns in types that it takes, night after night', async () => {
    const place = await sqlite.open();
    const { ask, table } = place;
    await ask(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email TEXT, age INT) STRICT`,
      `INSERT INTO ${table} VALUES (1, 'good1@sluice.test', 7), (2, 'bad2@sluice.test', NULL)`,
    );
    const verifying = await startVerifying();
    await verifying.run(own(place));
    await verifying.run(own(place));
    expect(
      await ask(`SELECT id, age, email_verification AS v, email_wrong AS w FROM ${table}`),
    ).toEqual([
      { id: 1, age: 7, v: 'verified', w: 0 },
      { id: 2, age: null, v: 'verified', w: 1 },
    ]);
    const source = rowsSource([{ id: 3, email: 'good3@sluice.test', age: 'old' }]);
    const refused = await rejection(verifying.run({ ...own(place), source }));
    expect(refused).toMatchObject({ code: 'invalid_option', fault: 'misfit', column: 'age' });
  });

  test('says before anything is sent which columns make numbers of phone numbers and postcodes', async () => {
    const place = await sqlite.open();
    const { ask, table } = place;
    await ask(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email TEXT, tel string, zip postcode, age INT, note VARCHAR(9), u)`,
    );
    const source = rowsSource([
      { id: 1, email: 'a@x.example', tel: '1', zip: '10115', age: '7', note: '007', u: '007' },
      {
        id: 2,
        email: 'b@x.example',
        tel: '+491701234567',
        zip: '00601',
        age: '0',
        note: '',
        u: '',
      },
    ]);
    const reading = await source.open({ wanted: () => [1] });
    const notices: Notice[] = [];
    const columns = { verified: [1], added: [[]], samples: [[]] };
    const validate = await own(place).sink.validate?.(reading, {
      ...columns,
      onNotice: (notice) => notices.push(noticeOf(notice)),
    });
    for await (const chunk of reading.chunks) validate?.(chunk);
    expect(notices).toMatchObject([
      { code: 'digits_lost', fields: { column: 'tel', type: 'string' } },
      { code: 'digits_lost', fields: { column: 'zip', type: 'postcode' } },
    ]);
  });

  test.each([{ key: 'id' }, {}])(
    'has an empty text among numbers as its source has it',
    async (options) => {
      const [from, to] = [await sqlite.open(), await sqlite.open()];
      const { table } = from;
      const definition = `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email TEXT, n INT)`;
      await from.ask(definition, `INSERT INTO ${table} VALUES (1, 'good@sluice.test', '')`);
      if (options.key !== undefined) await to.ask(definition);
      const verifying = await startVerifying();
      const source = from.source(`SELECT * FROM ${table}`);
      await verifying.run({ source, sink: to.sink(options), email: ['email'] });
      expect(await to.ask(`SELECT n FROM ${table}`)).toEqual([{ n: '' }]);
    },
  );

  test('has columns without a type, and numbers without an end, as another SQLite file has them', async () => {
    const [from, to] = [await sqlite.open(), await sqlite.open()];
    const { ask, table } = from;
    await ask(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email TEXT, x REAL, u)`,
      `INSERT INTO ${table} VALUES (1, 'good@sluice.test', 9e999, 5), (2, '', -9e999, 'five'), (3, NULL, 0.5, x'05'), (4, NULL, NULL, 1.5), (5, NULL, NULL, ''), (6, NULL, NULL, 9e999), (7, NULL, NULL, NULL)`,
    );
    const source = from.source(`SELECT *, id + 0 AS n FROM ${table}`);
    const verifying = await startVerifying();
    await verifying.run({ source, sink: to.sink(), email: ['email'] });
    const cells = `SELECT id, quote(x) AS x, typeof(u) AS type, quote(u) AS u FROM ${table}`;
    expect(await to.ask(cells)).toEqual(await ask(cells));
    expect(await to.ask(`SELECT typeof(n) AS n FROM ${table} LIMIT 1`)).toEqual([{ n: 'integer' }]);
    const csv = join(await withFolder(), 'out.csv');
    await verifying.run({ source, sink: fileSink(csv), email: ['email'] });
    const text = await readFile(csv, 'utf8');
    expect(text).toContain('1,good@sluice.test,Infinity,5,1,verified');
    expect(text).toContain('6,,,Infinity,6,');
  });

  test('drops no row for another one, whatever the table says of a conflict', async () => {
    const place = await sqlite.open();
    const { ask, table } = place;
    await ask(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, email TEXT UNIQUE ON CONFLICT REPLACE)`,
      `INSERT INTO ${table} VALUES (1, 'good1@sluice.test'), (2, 'good2@sluice.test')`,
    );
    const verifying = await startVerifying();
    for (const id of [1, 3]) {
      const source = rowsSource([{ id, email: 'good2@sluice.test' }]);
      const error = await rejection(
        verifying.run({ source, sink: place.sink({ key: 'id' }), email: ['email'] }),
      );
      expect(exitCodeOf(error)).toBe(2);
      expect(error.message).toContain(`UNIQUE constraint failed: ${table}.email`);
    }
    expect(await ask(`SELECT id FROM ${table} ORDER BY id`)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await verifying.charges()).toBe(0);
  });
});

test('SQLite takes a URL object for a file, whatever is in its name', async () => {
  const path = join(await withFolder(), 'ö 100%.db');
  askSqlite(path, 'CREATE TABLE people (id INTEGER)', 'INSERT INTO people VALUES (7)', 'SELECT 1');
  const source = sqliteSource({ url: pathToFileURL(path), query: 'select id from people' });
  expect((await readAll(source)).map(([id]) => Number(id))).toEqual([7]);
  const sink = sqliteSink({ url: pathToFileURL(path), into: 'people', key: 'id' });
  expect(sink.name).toBe(`people in sqlite:${path}`);
  const refused = expect.objectContaining({ option: 'url' }) as Error;
  expect(() => sqliteSource({ url: 5 as never, query: 'select 1' })).toThrow(refused);
  expect(() => sqliteSink({ url: undefined as never, into: 'people' })).toThrow(refused);
});
