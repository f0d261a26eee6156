import { rowsSentence } from '../../../../src/report/sentences/list-sentences.js';
import { describe, expect, test, vi } from 'vitest';
import type { RunProgress, Sink } from '../../../../src/index.js';
import type { JoinedRows } from '../../../../src/lists/rows/sink.js';
import { changeFirst } from '../harness/spoilt-sinks.js';
import { expectExit, rejection } from '../harness/rejection.js';
import { startVerifying } from '../harness/verify-rows.js';
import type { Database, DatabaseServer, Place } from './database.js';
import { cellsOf, makePeople } from './people.js';

async function untilSomeoneWaits(isSo: () => Promise<boolean>): Promise<void> {
  await expect.poll(isSo, { message: 'another session waits for a lock' }).toBe(true);
}

/** Who is to write makes a plan, and waits if need be, while a process that was killed commits. */
function committedMeanwhile(
  sink: Sink,
  killed: Sink,
  hasWaiting: (() => Promise<boolean>) | undefined,
): Sink {
  return {
    ...sink,
    async open(opening) {
      const other = await killed.open(opening);
      const chunks: JoinedRows[] = [];
      return {
        async write(rows) {
          chunks.push(rows);
          await other.write(rows);
        },
        async finish() {
          const next = sink.open(opening);
          if (hasWaiting) await untilSomeoneWaits(hasWaiting);
          else await next;
          await other.finish();
          const writing = await next;
          for (const rows of chunks) await writing.write(rows);
          await writing.finish();
        },
        abort: () => other.abort(),
      };
    },
  };
}

export function describeChanges(database: Database): void {
  const { hasOrigins, isShared, longestName, open, server } = database;
  const openPeople = async (): Promise<Place> => {
    const place = await open();
    await makePeople(place);
    return place;
  };

  describe('rows of a table that another session changes while they are verified', () => {
    test('get no result of what they were, and are counted and named', async () => {
      const place = await openPeople();
      const { ask, table } = place;
      await ask(
        `UPDATE ${table} SET email = 'GOOD4@sluice.test' WHERE id = 4`,
        `UPDATE ${table} SET email = NULL WHERE id = 5`,
      );
      const reported: RunProgress[] = [];
      const summary = await (
        await startVerifying()
      ).run({
        onProgress: (progress) => reported.push(progress),
        source: place.source(`SELECT id, email FROM ${table}`),
        sink: changeFirst(place.sink({ key: 'id' }), () =>
          ask(
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
      expect(summary.skipped_updates).toEqual({ changed: 3, gone: 1, keys: ['1', '2', '4', '5'] });
      const [output] = summary.outputs;
      expect(output?.rows).toBe(summary.rows - 4);
      expect(reported).toContainEqual({ stage: 'written', rows: summary.rows - 4 });
      expect(rowsSentence(summary)).toMatch(new RegExp(`^[^,\\d]* ${summary.rows - 4} [^,]*$`));
      const rows = await ask(
        `SELECT id, note, email_verification, email_wrong FROM ${table} ORDER BY id`,
      );
      expect(cellsOf(rows)).toEqual([
        [1, 'kept', null, null],
        [3, 'new', 'verified', 1],
        [4, 'kept', null, null],
        [5, 'new', null, null],
      ]);
    });

    test('have lost their key, which stops the run with what was paid', async () => {
      const place = await openPeople();
      const { ask, table } = place;
      const sink = changeFirst(place.sink({ key: 'id' }), () =>
        ask(`DROP TABLE ${table}`, `CREATE TABLE ${table} (id INTEGER, email VARCHAR(80))`),
      );
      const source = place.source(`SELECT id, email FROM ${table}`);
      const run = (await startVerifying()).run({ source, sink, email: ['email'] });
      const error = await rejection(run);
      expect(error).toMatchObject({ code: 'output_failed', fault: 'not_unique', column: 'id' });
      expectExit(error, 6);
    });

    test('are compared by the column that the query shows under another name', async () => {
      const place = await openPeople();
      const { ask, table } = place;
      const printed: RunProgress[] = [];
      const summary = await (
        await startVerifying()
      ).run({
        source: place.source(`SELECT id, email AS mail FROM ${table}`),
        sink: changeFirst(place.sink({ key: 'id', isUpdate: true }), () =>
          ask(`UPDATE ${table} SET email = 'bad1@sluice.test' WHERE id = 1`),
        ),
        email: ['mail'],
        onProgress: (progress) => printed.push(progress),
      });
      // What cannot be compared is said.
      const notice = {
        code: 'unguarded_column',
        fields: { column: 'mail', table: expect.anything() },
      };
      if (!hasOrigins) expect(printed).toContainEqual(expect.objectContaining(notice));
      else expect(summary.skipped_updates).toEqual({ changed: 1, gone: 0, keys: ['1'] });
    });

    test('are not spoken of where nothing changed', async () => {
      const place = await openPeople();
      const summary = await (
        await startVerifying()
      ).run({
        source: place.source(`SELECT id, email FROM ${place.table}`),
        sink: place.sink({ key: 'id' }),
        email: ['email'],
      });
      expect(summary).not.toHaveProperty('skipped_updates');
    });

    if (server) describeLocks(openPeople, server);
  });

  if (isShared) describeLateCommit(openPeople, database);

  test('names of columns that are too long are cut, which is reported before anything is sent', async () => {
    const place = await open();
    const { ask, table } = place;
    const column = 'e'.repeat(60);
    await ask(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, ${column} VARCHAR(80))`,
      `INSERT INTO ${table} VALUES (1, 'good1@sluice.test')`,
    );
    const verifying = await startVerifying();
    const expected: object[] = [];
    const run = {
      source: place.source(`SELECT id, ${column} FROM ${table}`),
      sink: place.sink({ key: 'id' }),
      email: [column],
      onProgress: (progress: RunProgress) => {
        if (progress.stage === 'notice' || progress.stage === 'batch') expected.push(progress);
      },
    };
    await verifying.run(run);
    // The same names are there the next night.
    await verifying.run(run);
    const [row = {}] = await ask(`SELECT * FROM ${table}`);
    const names = Object.keys(row);
    expect(names).toHaveLength(14);
    const [valid = '', ...others] = names.filter((each) => each.endsWith('_valid'));
    expect(others).toEqual([]);
    const longest = Math.max(...names.map((each) => each.length));
    if (longestName === undefined) {
      expect(expected[0]).toMatchObject({ stage: 'batch' });
    } else {
      const renamed = { from: `${column}_valid`, to: valid };
      const fields = { columns: expect.arrayContaining([renamed]) as unknown };
      expect(expected[0]).toMatchObject({ code: 'names_shortened', fields });
      expect(longest).toBe(longestName);
    }
  });
}

function describeLocks(openPeople: () => Promise<Place>, server: DatabaseServer): void {
  test('are waited for until it commits', async () => {
    const place = await openPeople();
    const { ask, table } = place;
    const verifying = await startVerifying();
    const source = place.source(`SELECT id, email FROM ${table}`);
    const run = { source, email: ['email'] };
    // The columns are there from then on.
    await verifying.run({ ...run, sink: place.sink({ key: 'id' }) });
    await ask(`UPDATE ${table} SET email_verification = NULL, email_wrong = NULL`);
    const session = await server.openSession();
    let hasChanged = (): void => undefined;
    const changed = new Promise<void>((resolve) => (hasChanged = resolve));
    const sink = changeFirst(place.sink({ key: 'id' }), async () => {
      await session.query(`UPDATE ${table} SET email = 'bad1@sluice.test' WHERE id = 1`);
      hasChanged();
    });
    const commit = async (): Promise<void> => {
      await changed;
      await untilSomeoneWaits(session.isWaitedFor);
      await session.query('COMMIT');
      await session.end();
    };
    const [summary] = await Promise.all([verifying.run({ ...run, sink }), commit()]);
    expect(summary.skipped_updates).toEqual({ changed: 1, gone: 0, keys: ['1'] });
    const [row] = await ask(`SELECT email, email_verification AS v FROM ${table} WHERE id = 1`);
    expect(row).toEqual({ email: 'bad1@sluice.test', v: null });
  });

  test('get their columns when a transaction that reads them is over, which is said, and readers are let in meanwhile', async () => {
    const place = await openPeople();
    const { ask, table } = place;
    const session = await server.openSession();
    const printed: (string | null)[] = [];
    // Answered while the other transaction is open, and this run still wants to change the table.
    const readMeanwhile = vi.fn<() => Promise<number>>(async () => {
      const rows = await ask(`SELECT id FROM ${table}`);
      await session.end();
      return rows.length;
    });
    await (
      await startVerifying()
    ).run({
      source: place.source(`SELECT id, email FROM ${table}`),
      sink: changeFirst(place.sink({ key: 'id' }), () => session.query(`SELECT * FROM ${table}`)),
      email: ['email'],
      onProgress(progress) {
        if (progress.stage !== 'notice') return;
        printed.push(progress.code);
        if (printed.length === 1) void readMeanwhile().catch(() => undefined);
      },
    });
    expect(printed[0]).toBe('table_locked');
    expect(readMeanwhile).toHaveResolvedWith(5);
    const rows = await ask(`SELECT email_verification FROM ${table}`);
    expect(cellsOf(rows)).toEqual(Array.from({ length: 5 }, () => ['verified']));
  });
}

function describeLateCommit(openPeople: () => Promise<Place>, { open, server }: Database): void {
  test('columns that another run adds to the table at the same time are there for both', async () => {
    const place = await openPeople();
    const { ask, table } = place;
    const sink = place.sink({ key: 'id' });
    let opened = 0;
    await (
      await startVerifying()
    ).run({
      source: place.source(`SELECT id, email FROM ${table} ORDER BY id`),
      sink: {
        ...sink,
        async open(opening) {
          const writing = await sink.open(opening);
          opened += 1;
          await ask(`ALTER TABLE ${table} ADD COLUMN email_verification VARCHAR(80)`);
          return writing;
        },
      },
      email: ['email'],
    });
    expect(opened).toBe(1);
    const rows = await ask(`SELECT email_verification, email_wrong FROM ${table} ORDER BY id`);
    expect(cellsOf(rows)).toEqual([1, 2, 3, 4, 5].map((id) => ['verified', Number(id === 3)]));
  });

  test('a new table whose commit arrives after its process was killed is what the next process was to make', async () => {
    const place = await open();
    const people = await openPeople();
    const sink = (): Sink => place.sink({ into: `${place.table}_made` });
    await (
      await startVerifying()
    ).run({
      source: people.source(`SELECT id, email FROM ${people.table} ORDER BY id`),
      sink: committedMeanwhile(sink(), sink(), server?.hasWaiting),
      email: ['email'],
    });
    const rows = await place.ask(`SELECT id, email_wrong FROM ${place.table}_made ORDER BY id`);
    expect(cellsOf(rows)).toEqual([1, 2, 3, 4, 5].map((id) => [id, Number(id === 3)]));
  });
}
