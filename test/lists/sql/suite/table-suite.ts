import { describe, expect, test } from 'vitest';
import {
  ConfigurationError,
  rowsSource,
  type RunProgress,
  splitSink,
  type Sink,
  type Source,
} from '../../../../src/index.js';
import { changeFirst, dieBehind } from '../harness/spoilt-sinks.js';
import { expectExit, rejection } from '../harness/rejection.js';
import { startVerifying } from '../harness/verify-rows.js';
import type { Database, Place, SinkOptions } from './database.js';
import { cellsOf, countIn, makePeople } from './people.js';
import { newName } from '../harness/new-name.js';

/** A promise that somebody else settles. */
function promiseOf(): { readonly done: Promise<void>; readonly settle: () => void } {
  let settle = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { done, settle: () => settle() };
}

/** Why a run ends before anything is sent. */
async function refusalOf(
  source: Source,
  place: Place,
  options: SinkOptions,
  exitCode = 2,
): Promise<Error> {
  const verifying = await startVerifying();
  const run = verifying.run({ source, sink: place.sink(options), email: ['email'] });
  const error = await rejection(run);
  expectExit(error, exitCode);
  expect(await verifying.charges()).toBe(0);
  expect(await verifying.client.listBatches()).toEqual([]);
  return error;
}

export function describeTable({
  dropRow,
  hasSchemas,
  isShared,
  newTable,
  open,
  ownRows = [],
}: Database): void {
  const openPeople = async (): Promise<Place> => {
    const place = await open();
    await makePeople(place);
    return place;
  };
  const verifiedName = ({ table }: Place): string => `${table}_verified`;

  describe('a new table', () => {
    test('has the types of the columns that the query has, and its name to the letter', async () => {
      const place = await open();
      const { ask, table } = place;
      if (newTable.statements) await ask(...newTable.statements(table));
      else await makePeople(place);
      const { email, key } = newTable;
      const summary = await (
        await startVerifying()
      ).run({
        source: place.source(newTable.query(table)),
        sink: place.sink({ into: newTable.into(table), ...(key !== undefined && { key }) }),
        email: [email],
      });
      expect(JSON.stringify(summary)).not.toContain('secret');
      for (const [query, rows] of newTable.looks(table)) expect(await ask(query)).toEqual(rows);
    });

    test('has an empty text where the query has one, and null where it has none', async () => {
      const place = await openPeople();
      const { ask, table } = place;
      await ask(
        `UPDATE ${table} SET note = '' WHERE id = 1`,
        `UPDATE ${table} SET email = NULL WHERE id = 2`,
      );
      const into = verifiedName(place);
      await (
        await startVerifying()
      ).run({
        source: place.source(`SELECT id, email, note FROM ${table}`),
        sink: place.sink({ into }),
        email: ['email'],
      });
      const rows = await ask(`SELECT email, note FROM ${into} WHERE id < 3 ORDER BY id`);
      expect(cellsOf(rows)).toEqual([
        ['good1@sluice.test', ''],
        [null, 'kept'],
      ]);
    });

    test('does not take the place of one that is there, and nothing is sent', async () => {
      const place = await openPeople();
      const before = await place.ask(`SELECT * FROM ${place.table}`);
      const error = await refusalOf(place.source(`SELECT * FROM ${place.table}`), place, {});
      expect(error).toMatchObject({ code: 'invalid_option', option: 'key', fault: 'exists' });
      expect(await place.ask(`SELECT * FROM ${place.table}`)).toEqual(before);
    });

    test('without a key is made by one run: another one is refused before anything is sent', async () => {
      const place = await open();
      const source = rowsSource([{ email: 'good1@sluice.test' }]);
      const sink = changeFirst(place.sink(), async () => {
        expect(await refusalOf(source, place, {})).toMatchObject({ code: 'state_locked' });
      });
      await (await startVerifying()).run({ source, sink, email: ['email'] });
      expect(await refusalOf(source, place, {})).toMatchObject({ fault: 'exists' });
    });

    test.each([
      ['one with a key', {}, { key: 'id' }],
      ['one without a key', { key: 'id' }, {}],
    ])(
      'beside another run with the same key or none, %s is refused before anything is sent',
      async (_, options, other) => {
        const place = await open();
        const source = rowsSource([{ id: 1, email: 'good1@sluice.test' }]);
        const sink = changeFirst(place.sink(options), async () => {
          expect(await refusalOf(source, place, other)).toMatchObject({ code: 'state_locked' });
        });
        await (await startVerifying()).run({ source, sink, email: ['email'] });
        expect(await countIn(place, 'email_valid = true')).toBe(1);
      },
    );

    if (isShared) describeMakers(open);

    test('is made once more when it was dropped behind its commit', async () => {
      const place = await openPeople();
      const into = verifiedName(place);
      const verifying = await startVerifying();
      const source = place.source(`SELECT id, email FROM ${place.table}`);
      const run = { source, email: ['email'] };
      const killed = new Error('killed');
      const dying = dieBehind(place.sink({ into }), killed);
      await expect(verifying.run({ ...run, sink: dying })).rejects.toBe(killed);
      await place.ask(`DROP TABLE ${into}`);
      await verifying.run({ ...run, sink: place.sink({ into }) });
      expect(await countIn(place, 'email_verification IS NOT NULL', into)).toBe(5);
    });
  });

  test.each([
    ['a new table', {}],
    ['a new table with a key', { key: 'id' }],
    ['a table that was there', { key: 'id' }],
  ])('%s is not written again when killed behind its commit', async (what, options) => {
    const place = await openPeople();
    const exists = what.endsWith('there');
    const into = exists ? `${place.table}_other` : verifiedName(place);
    if (exists) await makePeople({ ...place, table: into });
    const verifying = await startVerifying();
    const sink = place.sink({ ...options, into });
    const source = place.source(`SELECT id, email FROM ${place.table} ORDER BY id`);
    const run = { source, email: ['email'] };
    const killed = new Error('killed');
    await expect(verifying.run({ ...run, sink: dieBehind(sink, killed) })).rejects.toBe(killed);
    await place.ask(`UPDATE ${into} SET email_reason = 'touched'`);
    const paid = await verifying.charges();
    const summary = await verifying.run({ ...run, sink });
    expect(summary.rows).toBe(5);
    expect(await countIn(place, "email_reason = 'touched'", into)).toBe(5);
    expect(await verifying.charges()).toBe(paid);
    // A later run is another one.
    const later = verifying.run({ ...run, sink });
    if (what === 'a new table') await expect(later).rejects.toMatchObject({ fault: 'exists' });
    else expect((await later).rows).toBe(5);
  });

  describe('rows that are recognized by a key', () => {
    test('are updated where they are there, and added where they are not', async () => {
      const place = await openPeople();
      const source = rowsSource([
        { id: 4, email: 'good40@sluice.test' },
        { id: 6, email: 'bad@sluice.test' },
      ]);
      const verifying = await startVerifying();
      const told: RunProgress[] = [];
      await verifying.run({
        source,
        sink: splitSink({ output: place.sink({ key: 'id' }), unique: true }),
        email: ['email'],
        onProgress: (progress) => told.push(progress),
      });
      // A row that is left out would stay as it was.
      expect(told).toContainEqual(
        expect.objectContaining({
          code: 'stale_rows',
          isWarning: true,
          fields: { table: place.table, options: ['unique'] },
        }),
      );
      const rows = await place.ask(
        `SELECT id, email, note, email_valid FROM ${place.table} WHERE id > 2 ORDER BY id`,
      );
      expect(cellsOf(rows)).toEqual([
        [3, 'bad3@sluice.test', 'kept', null],
        [4, 'good40@sluice.test', 'kept', 1],
        [5, 'good5@sluice.test', 'kept', null],
        [6, 'bad@sluice.test', 'kept', 0],
      ]);
    });

    test('get the added columns alone when they came from the table itself', async () => {
      const place = await openPeople();
      const { ask, table } = place;
      await ask(`ALTER TABLE ${table} ADD COLUMN email_valid VARCHAR(20)`);
      const verifying = await startVerifying();
      const source = place.source(`SELECT id, email FROM ${table} WHERE id < 5`);
      // A person's own column of that name is not written over.
      await ask(`UPDATE ${table} SET email_valid = 'asked' WHERE id = 3`);
      for (const columns of [undefined, ['valid'] as const]) {
        const over = verifying.run({
          source,
          sink: place.sink({ key: 'id' }),
          email: ['email'],
          ...(columns && { columns }),
        });
        await expect(over).rejects.toMatchObject({ code: 'column_exists', column: 'email_valid' });
      }
      await ask(`UPDATE ${table} SET email_valid = NULL`);
      await ask(`ALTER TABLE ${table} ADD COLUMN email_verification VARCHAR(20)`);
      await ask(`UPDATE ${table} SET email_verification = 'by Ann' WHERE id = 3`);
      const over = verifying.run({ source, sink: place.sink({ key: 'id' }), email: ['email'] });
      await expect(over).rejects.toMatchObject({ column: 'email_verification' });
      await ask(`ALTER TABLE ${table} DROP COLUMN email_verification`);
      // A row that is left out would keep the verdict of an earlier run.
      const sink = splitSink({ output: place.sink({ key: 'id' }), keep: { verdicts: ['valid'] } });
      const keeping = verifying.run({ source, sink, email: ['email'] });
      await expect(keeping).rejects.toMatchObject({ option: 'keep', fault: 'unsupported' });
      expect(await verifying.client.listBatches()).toEqual([]);
      await verifying.run({
        source,
        sink: changeFirst(place.sink({ key: 'id' }), () =>
          ask(
            `UPDATE ${table} SET email = 'newer@sluice.test' WHERE id = 1`,
            `DELETE FROM ${table} WHERE id = 2`,
          ),
        ),
        email: ['email'],
        prefix: { email: 'checked' },
      });
      const rows = await ask(
        `SELECT id, email, note, email_valid, checked_valid, checked_wrong FROM ${table} ORDER BY id`,
      );
      expect(cellsOf(rows)).toEqual([
        [1, 'newer@sluice.test', 'kept', null, null, null],
        [3, 'bad3@sluice.test', 'kept', null, 0, 1],
        [4, 'good4@sluice.test', 'kept', null, 1, 0],
        [5, 'good5@sluice.test', 'kept', null, null, null],
      ]);
    });

    test('get no results in a column that another run than theirs has not written', async () => {
      const place = await openPeople();
      const { ask, table } = place;
      const verifying = await startVerifying();
      const into = verifiedName(place);
      const write = (prefix: string, columns?: readonly ['valid'], options: SinkOptions = {}) =>
        verifying.run({
          source: place.source(`SELECT id, email FROM ${table}`),
          sink: place.sink({ key: 'id', ...options }),
          email: ['email'],
          prefix: { email: prefix },
          ...(columns && { columns }),
        });
      for (const options of [{}, { into }]) {
        await write('checked', ['valid'], options);
        const [target = table] = Object.values(options);
        await ask(
          `ALTER TABLE ${target} ADD COLUMN asked_valid VARCHAR(20)`,
          `UPDATE ${target} SET asked_valid = 'by Ann'`,
        );
        const over = write('asked', ['valid'], options);
        await expect(over).rejects.toMatchObject({ code: 'column_exists', column: 'asked_valid' });
        await write('checked', undefined, options);
        await write('checked', ['valid'], options);
      }
      // Another table of that name.
      await ask(`ALTER TABLE ${table} DROP COLUMN checked_verification`);
      await expect(write('checked')).rejects.toMatchObject({ column: 'checked_reason' });
      expect(await countIn(place, "asked_valid = 'by Ann'")).toBe(5);
      expect(await countIn(place, "asked_valid = 'by Ann'", into)).toBe(5);
    });

    test('get results where an earlier version has made the table of markers, without its latest column', async () => {
      const { ask, sink, source, url } = await open();
      const schema = newName();
      const within = url.startsWith('sqlite') ? '' : `${schema}.`;
      const [people, markers] = [`${within}people`, `${within}sluice_runs`];
      if (within !== '') await ask(`CREATE SCHEMA ${schema}`);
      await ask(
        `CREATE TABLE ${people} (id INT PRIMARY KEY, email VARCHAR(80))`,
        `INSERT INTO ${people} VALUES (1, 'good1@sluice.test')`,
      );
      const verifying = await startVerifying();
      const write = (into: string, email = 'email') =>
        verifying.run({
          source: source(`SELECT id, email FROM ${people}`),
          sink: sink({ into, key: 'id' }),
          email: ['email'],
          prefix: { email },
        });
      const forget = async () => ask(`ALTER TABLE ${markers} DROP COLUMN result_columns`);
      await write(people);
      await write(people, 'other');
      await forget();
      // The earlier version kept nothing of either.
      for (const prefix of ['email', 'other']) await write(people, prefix);
      await forget();
      await write(`${within}other`);
      for (const table of [people, `${within}other`]) {
        expect(cellsOf(await ask(`SELECT email_verification FROM ${table}`))).toEqual([
          ['verified'],
        ]);
      }
      expect(await verifying.charges()).toBe(5);
    });

    test('get their results in columns that have the same names in another case', async () => {
      const place = await openPeople();
      const { ask, table } = place;
      await ask(`ALTER TABLE ${table} ADD COLUMN Email_Verification VARCHAR(20)`);
      const verifying = await startVerifying();
      await verifying.run({
        source: place.source(`SELECT id, email FROM ${table}`),
        sink: place.sink({ key: 'id' }),
        email: ['email'],
      });
      expect(await countIn(place, "email_verification = 'verified'")).toBe(5);
    });

    test.each([
      ['a condition', 'o WHERE o.id NOT IN (SELECT id FROM $)'],
      ['a join', 'o LEFT JOIN $ ON $.id = o.id WHERE $.id IS NULL'],
    ])('may be those of another table that this one leaves out by %s', async (_, rest) => {
      const place = await openPeople();
      const other = `${place.table}_other`;
      await makePeople({ ...place, table: other });
      await place.ask(`UPDATE ${other} SET id = id + 10`);
      const fresh = `SELECT o.id, o.email FROM ${other} ${rest.replaceAll('$', place.table)}`;
      const verifying = await startVerifying();
      const run = { source: place.source(fresh), sink: place.sink({ key: 'id' }) };
      await verifying.run({ ...run, email: ['email'] });
      expect(await countIn(place)).toBe(10);
    });

    const ways: NonNullable<Database['ownRows']> = [
      ['a computed key', (table: string) => `SELECT id + 3 AS id, email FROM ${table}`],
      ['a view', (table: string) => `SELECT id, email FROM ${table}_view`],
      [
        'a view of a view',
        (table: string) => `SELECT id, email FROM (SELECT * FROM ${table}_union) x`,
      ],
      [
        'tables one after another',
        (table: string) =>
          `SELECT id, email FROM ${table}_view UNION SELECT id, email FROM ${table}_view`,
      ],
      [
        'a union that begins with another table',
        (table: string) =>
          `SELECT id, email FROM ${table}_other UNION ALL SELECT id, email FROM ${table}`,
      ],
      [
        'a union inside',
        (table: string) =>
          `SELECT id, email FROM (SELECT * FROM ${table} UNION ALL SELECT * FROM ${table}_other) x`,
      ],
      [
        'a sorted union inside',
        (table: string) =>
          `SELECT id, email FROM (SELECT * FROM ${table}_other UNION SELECT * FROM ${table}) x ORDER BY id`,
      ],
      [
        'a recursive step',
        (table: string) =>
          `WITH RECURSIVE r(id, email) AS (SELECT id, email FROM ${table}_other UNION ALL SELECT t.id, t.email FROM ${table} t JOIN r ON r.id = t.id + 10) SELECT * FROM r`,
      ],
      [
        'a name that stands for another table',
        (table: string) =>
          `WITH ${table}_other AS (SELECT * FROM ${table}) SELECT id, email FROM ${table}_other`,
      ],
      ...ownRows,
    ];
    const named = ways.map(([what, query, make]) => ({ what, query, make }));
    test.each(named)('of the table itself are never added by way of $what', async (way) => {
      const { query, make } = way;
      const place = await openPeople();
      const { ask, table } = place;
      await ask(
        `CREATE VIEW ${table}_view AS SELECT * FROM ${table}`,
        `CREATE VIEW ${table}_union AS SELECT * FROM ${table}_view UNION SELECT * FROM ${table}_view`,
      );
      const other = `${table}_other`;
      await makePeople({ ...place, table: other });
      await ask(`UPDATE ${other} SET id = id + 10`);
      if (make) await ask(make(table));
      const verifying = await startVerifying();
      const sink = changeFirst(place.sink({ key: 'id' }), () =>
        ask(
          `UPDATE ${table} SET email = 'newer@sluice.test' WHERE id = 1`,
          `DELETE FROM ${table} WHERE id = 2`,
        ),
      );
      const run = verifying.run({ source: place.source(query(table)), sink, email: ['email'] });
      const error = await run.then(
        () => undefined,
        (failed: unknown) => failed,
      );
      if (error !== undefined) {
        expectExit(error, 2);
        expect(await verifying.client.listBatches()).toEqual([]);
        return;
      }
      // A database that knows the columns behind a view writes in place.
      const rows = await ask(`SELECT id, email FROM ${table} WHERE id < 4 ORDER BY id`);
      expect(cellsOf(rows)).toEqual([
        [1, 'newer@sluice.test'],
        [3, 'bad3@sluice.test'],
      ]);
    });

    const refused: [what: string, options: SinkOptions, error: object][] = [
      ['a key that the rows lack', { key: 'nr' }, { code: 'column_not_found', column: 'nr' }],
      ['a key that is not unique', { key: 'email' }, { fault: 'not_unique', column: 'email' }],
      [
        'a column that the table lacks',
        { key: 'id' },
        { code: 'column_not_found', column: 'extra' },
      ],
      ['a view', { into: 'VIEW', key: 'id' }, { fault: 'view' }],
    ];
    if (hasSchemas) {
      const message = expect.stringContaining('nowhere') as string;
      refused.push(['a schema that is not there', { into: 'nowhere.people' }, { message }]);
    }
    test.each(refused)('%s is reported before anything is sent', async (_, options, expected) => {
      const place = await openPeople();
      const view = `${place.table}_view`;
      await place.ask(`CREATE VIEW ${view} AS SELECT * FROM ${place.table}`);
      const { into = place.table } = options;
      const source = place.source("SELECT 1 AS id, 'good@sluice.test' AS email, 2 AS extra");
      const error = await refusalOf(source, place, {
        ...options,
        into: into === 'VIEW' ? view : into,
      });
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject(expected);
    });

    test('with an empty key end the run before anything is sent', async () => {
      const place = await openPeople();
      const { source, table } = place;
      const query = `SELECT nullif(id, 2) AS id, email FROM ${table} p ORDER BY p.id`;
      const into = verifiedName(place);
      const error = await refusalOf(source(query), place, { into, key: 'id' }, 6);
      expect(error).toMatchObject({ fault: 'missing', rows: [2], column: 'id' });
    });

    test('of which two have the same end the run before anything is sent, and leave no trace', async () => {
      const place = await open();
      const source = rowsSource(
        [1, 2, 1].map((id, at) => ({ id, email: `${'abc'[at]}@sluice.test` })),
      );
      const error = await refusalOf(source, place, { key: 'id' });
      expect(error).toMatchObject({ fault: 'repeated', rows: [1, 3], option: 'key' });
      expect(await place.traces()).toEqual([]);
    });

    if (dropRow) describeDropped(openPeople, dropRow);
  });
}

function describeMakers(open: Database['open']): void {
  test('is left to all runs with a key by one without, whichever of them ends first', async () => {
    const place = await open();
    const [first, second] = [place.sink({ key: 'id' }), place.sink({ key: 'id' })];
    const release = await first.hold?.();
    const releaseOther = await second.hold?.();
    await release?.();
    await expect(place.sink().hold?.()).rejects.toMatchObject({ code: 'state_locked' });
    await releaseOther?.();
    // And one without is left to by all with a key, though the first of them waits for it.
    const releaseIt = await place.sink().hold?.();
    const waiting = first.hold?.({ waitLockMs: 600_000 });
    await expect(second.hold?.()).rejects.toMatchObject({ code: 'state_locked' });
    await releaseIt?.();
    await (
      await waiting
    )?.();
  });

  test('with a key is made by one of two runs, and the other goes on with it', async () => {
    const place = await open();
    const [rehearsed, opened, awaited] = [promiseOf(), promiseOf(), promiseOf()];
    const [first, second] = [place.sink({ key: 'id' }), place.sink({ key: 'id' })];
    const verify = async (id: number, sink: Sink): Promise<void> => {
      const source = rowsSource([{ id, email: `good${id}@sluice.test` }]);
      await (await startVerifying()).run({ source, sink, email: ['email'] });
    };
    const firstRun = verify(1, {
      ...first,
      async open(opening) {
        await rehearsed.done;
        const writing = await first.open(opening);
        opened.settle();
        const finish = async (): Promise<void> => {
          await awaited.done;
          await writing.finish();
        };
        return { ...writing, finish };
      },
    });
    const secondRun = verify(2, {
      ...second,
      async open(opening) {
        rehearsed.settle();
        await opened.done;
        const writing = await second.open({ ...opening, onNotice: awaited.settle });
        // Nothing was waited for.
        awaited.settle();
        return writing;
      },
    });
    await Promise.all([firstRun, secondRun]);
    expect(await countIn(place, 'email_valid = true')).toBe(2);
  });
}

function describeDropped(
  openPeople: () => Promise<Place>,
  dropRow: NonNullable<Database['dropRow']>,
): void {
  test('of which the table drops one without an error end the run before anything is sent', async () => {
    const place = await openPeople();
    await place.ask(...dropRow(place.table, 7));
    const source = rowsSource([8, 7].map((id) => ({ id, email: `good${id}@sluice.test` })));
    const error = await refusalOf(source, place, { key: 'id' });
    expect(error).toMatchObject({ fault: 'dropped', rows: [2] });
  });
}
