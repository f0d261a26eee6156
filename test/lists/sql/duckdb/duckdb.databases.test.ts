import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { duckdbSink, duckdbSource } from '../../../../src/lists/sql/duckdb/index.js';
import { systemClock } from '../../../../src/platform/waiting/clock.js';
import { fileSink, rowsSource, streamRun, type Source } from '../../../../src/index.js';
import { csvCells } from '../../../cli/harness/csv-cells.js';
import { runInProcess } from '../../../cli/harness/run-in-process.js';
import { carry, readAll } from '../harness/carry.js';
import { rejection } from '../harness/rejection.js';
import { changeFirst } from '../harness/spoilt-sinks.js';
import { describeDatabase } from '../suite/describe-database.js';
import type { Place } from '../suite/database.js';
import { makePeople } from '../suite/people.js';
import { startVerifying } from '../harness/verify-rows.js';
import { withFolder } from '../../../service/with-service.js';
import { askDuckdb } from './ask-duckdb.js';
import { duckdb } from './duckdb-database.js';

describeDatabase(duckdb);

const inMemory = (query: string): Source => duckdbSource({ url: ':memory:', query });
const one = inMemory("SELECT 1 AS id, 'good@sluice.test' AS email");

async function openPeople(): Promise<Place> {
  const place = await duckdb.open();
  await makePeople(place);
  return place;
}

test('docs/your-list.md leaves out those who have opted out in a column, and nobody else', async () => {
  const page = await readFile('docs/your-list.md', 'utf8');
  const [, query = ''] = /--query "(.*read_csv.*?)"/.exec(page) ?? [];
  const list = join(await withFolder(), 'sf.csv');
  const cells = ['', '0', 'false', 'False', 'No', '1', 'true', 'Yes', 'ja', '2024-11-12'];
  const rows = cells.map((cell, at) => `${at},${cell}`);
  await writeFile(list, ['Id,HasOptedOutOfEmail', ...rows, ''].join('\n'));
  const kept = await askDuckdb(':memory:', query.replace('sf.csv', list));
  expect(kept).toMatchObject(['0', '1', '2', '3', '4'].map((Id) => ({ Id })));
});

/** A process that has the file open until it is killed. */
async function holdOpen(path: string): Promise<ChildProcess> {
  const program = `const { DuckDBInstance } = await import('@duckdb/node-api');
    globalThis.held = await DuckDBInstance.create(${JSON.stringify(path)});
    console.log('open');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  return child;
}

describe('rows of DuckDB', () => {
  test('may be asked for in its own short form', async () => {
    expect(await readAll(inMemory('FROM range(2)'))).toEqual([[0], [1]]);
  });

  test('may stand in a Parquet file, written by Sluice or by DuckDB', async () => {
    const folder = await withFolder();
    const [own, other] = [join(folder, 'own.parquet'), join(folder, 'other.parquet')];
    const verifying = await startVerifying();
    await verifying.run({
      source: rowsSource(
        ['good1', 'bad'].map((name, at) => ({ id: `${at + 1}`, email: `${name}@sluice.test` })),
      ),
      sink: fileSink(own, { format: 'parquet' }),
      email: ['email'],
    });
    await askDuckdb(':memory:', `COPY (SELECT * FROM '${own}') TO '${other}' (FORMAT parquet)`);
    for (const path of [own, other]) {
      const query = `SELECT id, email, email_valid, email_wrong FROM '${path}'`;
      expect(await readAll(inMemory(query))).toEqual([
        ['1', 'good1@sluice.test', true, false],
        ['2', 'bad@sluice.test', false, true],
      ]);
    }
  });

  test.each([
    ['is not there', 'nowhere.parquet', /No files found.*nowhere/],
    ['is cut short', 'cut.parquet', /No magic bytes/],
  ])('of a warehouse file that %s are none, which is said', async (_, file, words) => {
    const folder = await withFolder();
    await writeFile(join(folder, 'cut.parquet'), `PAR1${'x'.repeat(1000)}`);
    const error = await rejection(readAll(inMemory(`SELECT * FROM '${join(folder, file)}'`)));
    expect(error.message).toMatch(words);
    expect(error).toMatchObject({ code: 'input_unreadable' });
  });

  test('are read of a warehouse file and written into a DuckDB file by the command', async () => {
    const cwd = await withFolder();
    const contacts = new URL('../../../../examples/contacts.csv', import.meta.url).pathname;
    const columns = ['--email', 'email', '--country', 'US', '--local'];
    const parquet = await runInProcess(
      ['verify', contacts, '-o', 'list.parquet', ...columns, '--prefix', 'email=first'],
      { cwd },
    );
    expect(parquet).toMatchObject({ code: 0 });
    const query = `SELECT id, email, first_valid FROM '${join(cwd, 'list.parquet')}' ORDER BY id`;
    const table = await runInProcess(
      ['verify', 'duckdb::memory:', '--query', query, ...columns].concat(
        ['-o', 'duckdb:crm.duckdb', '--into', 'verified'],
        ['--key', 'id'],
      ),
      { cwd },
    );
    expect(table).toMatchObject({ code: 0 });
    const [counts] = await askDuckdb(
      join(cwd, 'crm.duckdb'),
      "SELECT count(*)::INTEGER AS rows, count(*) FILTER (first_valid IS DISTINCT FROM email_valid)::INTEGER AS others, count(*) FILTER (email_verification = 'verified')::INTEGER AS verified FROM verified",
    );
    const { rows, others, verified } = counts as Record<string, number>;
    expect({ rows, others }).toEqual({
      rows: csvCells(await readFile(contacts)).length - 1,
      others: 0,
    });
    expect(verified).toBeGreaterThan(0);
    expect((await readdir(cwd)).toSorted()).toEqual(['crm.duckdb', 'list.parquet']);
  });
});

describe('a table in a DuckDB file', () => {
  test('has JSON as another DuckDB file has it', async () => {
    const json = '{"a": 1.50, "n": 9007199254740993, "a": [2]}';
    const { ask, sink, table } = await duckdb.open();
    await carry(inMemory(`SELECT '${json}'::JSON AS j`), sink());
    expect(await ask(`SELECT j::VARCHAR AS j FROM ${table}`)).toEqual([{ j: json }]);
  });

  test('gets a name in capitals also where capitals and small letters are the same', async () => {
    const { ask, sink, table } = await duckdb.open();
    await ask(
      `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, name VARCHAR COLLATE NOCASE, email VARCHAR)`,
      `INSERT INTO ${table} VALUES (1, 'ada', 'good1@sluice.test')`,
    );
    await (
      await startVerifying()
    ).run({
      source: inMemory("SELECT 1 AS id, 'Ada' AS name, 'good1@sluice.test' AS email"),
      sink: sink({ into: `main.${table}`, key: 'id' }),
      email: ['email'],
    });
    expect(await ask(`SELECT name, email_valid AS v FROM ${table}`)).toEqual([
      { name: 'Ada', v: true },
    ]);
  });

  test('is as it was when a cell does not fit, and says which', async () => {
    const place = await openPeople();
    const { ask, sink, table } = place;
    await ask(`ALTER TABLE ${table} ADD COLUMN age INTEGER`);
    const verifying = await startVerifying();
    const run = {
      source: rowsSource([
        { id: 7, email: 'good7@sluice.test', age: '' },
        { id: 8, email: 'good8@sluice.test', age: 'private' },
      ]),
      sink: sink({ key: 'id' }),
      email: ['email'],
    };
    const error = await rejection(verifying.run(run));
    expect(error).toMatchObject({ code: 'invalid_option', column: 'age', fault: 'misfit' });
    expect(error.message).toMatch(/"age".*\b2\b.*INTEGER/);
    expect(await verifying.charges()).toBe(0);
    const columns = `SELECT column_name FROM duckdb_columns() WHERE table_name = '${table}'`;
    expect(await ask(columns)).toHaveLength(4);
    await ask(`ALTER TABLE ${table} ALTER COLUMN age TYPE VARCHAR`);
    await verifying.run(run);
    expect(await ask(`SELECT id, age, email_valid FROM ${table} WHERE id > 6 ORDER BY id`)).toEqual(
      [
        { id: 7, age: '', email_valid: true },
        { id: 8, age: 'private', email_valid: true },
      ],
    );
  });

  test('another process that has the file open is named, and so is this one', async () => {
    const path = join(await withFolder(), 'crm.duckdb');
    await askDuckdb(path, "CREATE TABLE people AS SELECT 1 AS id, 'good@sluice.test' AS email");
    const verifying = await startVerifying();
    const run = { source: one, sink: duckdbSink({ url: path, into: 'made' }), email: ['email'] };
    const holder = await holdOpen(path);
    const asks = vi.spyOn(systemClock, 'sleep').mockImplementation(async () => undefined);
    const held = await rejection(verifying.run(run));
    asks.mockRestore();
    expect(held).toMatchObject({ code: 'output_failed' });
    expect(held.message).toContain('another process has it open');
    holder.kill();
    await once(holder, 'exit');
    const { client } = verifying;
    const source = duckdbSource({ url: path, query: 'SELECT id, email FROM people' });
    const both = await rejection(streamRun({ ...run, source, client, country: 'US' }));
    expect(both).toMatchObject({ code: 'invalid_option', fault: 'locked' });
    expect(await verifying.charges()).toBe(0);
    expect((await verifying.run(run)).rows).toBe(1);
  });

  test('another process that has the file open for a while is waited for: before anything is sent, and with paid results', async () => {
    const path = join(await withFolder(), 'crm.duckdb');
    await askDuckdb(path, "CREATE TABLE people AS SELECT 1 AS id, 'good@sluice.test' AS email");
    const verifying = await startVerifying();
    const untilWaited = async (times: number): Promise<void> => {
      const holder = await holdOpen(path);
      let tries = 0;
      const asks = vi.spyOn(systemClock, 'sleep').mockImplementation(async () => {
        tries += 1;
        if (tries < times) return;
        holder.kill();
        await once(holder, 'exit');
        asks.mockRestore();
      });
    };
    await untilWaited(1);
    // The second time beyond what a first look waits.
    const sink = changeFirst(duckdbSink({ url: path, into: 'made' }), () => untilWaited(200));
    await verifying.run({ source: one, sink, email: ['email'] });
    expect(await askDuckdb(path, 'SELECT email_valid FROM made')).toEqual([{ email_valid: true }]);
    expect(await verifying.charges()).toBe(1);
  });

  test('a file that another process is just making is waited for', async () => {
    const path = join(await withFolder(), 'crm.duckdb');
    await writeFile(path, 'the first half');
    const asks = vi.spyOn(systemClock, 'sleep').mockImplementation(async () => {
      asks.mockRestore();
      await rm(path);
      await askDuckdb(path, 'CREATE TABLE other AS SELECT 1 AS id');
    });
    const sink = duckdbSink({ url: path, into: 'made' });
    expect((await (await startVerifying()).run({ source: one, sink, email: ['email'] })).rows).toBe(
      1,
    );
  });

  test('keys that only a collation takes for the same are two, as they are for its index', async () => {
    const { ask, sink, table } = await duckdb.open();
    await ask(
      `CREATE TABLE ${table} (id VARCHAR COLLATE NOCASE.NOACCENT PRIMARY KEY, email VARCHAR)`,
      `INSERT INTO ${table} VALUES ('a', ''), ('A', '')`,
    );
    const rows = ['a', 'A', 'á'].map((id, at) => ({ id, email: `good${at}@sluice.test` }));
    const run = { source: rowsSource(rows), sink: sink({ key: 'id' }), email: ['email'] };
    await (await startVerifying()).run(run);
    const found = await ask(`SELECT id, email FROM ${table} WHERE email_valid ORDER BY email`);
    expect(found).toEqual(rows);
  });

  test('in memory is refused, and a file that is dropped again leaves nothing', async () => {
    expect(() => duckdbSink({ url: 'duckdb::memory:', into: 't' })).toThrow(
      expect.objectContaining({ fault: 'unsupported' }),
    );
    const folder = await withFolder();
    const verifying = await startVerifying();
    const sink = duckdbSink({ url: join(folder, 'new.duckdb'), into: 't' });
    const failing = new Error('no more rows');
    const error = await rejection(
      verifying.run({
        source: one,
        sink: {
          ...sink,
          async open(opening) {
            const writing = await sink.open(opening);
            return {
              write: () => Promise.reject(failing),
              abort: () => writing.abort(),
              finish: () => writing.finish(),
            };
          },
        },
        email: ['email'],
      }),
    );
    expect(error).toBe(failing);
    expect(await readdir(folder)).toEqual([]);
    await verifying.run({ source: one, sink, email: ['email'] });
    expect(await readdir(folder)).toEqual(['new.duckdb']);
  });
});

test.each([{ key: 'id' }, {}])(
  'an empty member of an enumeration stays what it is in another table',
  async (options) => {
    const { ask, sink, source, table } = await duckdb.open();
    const definition = "(id INTEGER PRIMARY KEY, email VARCHAR, e ENUM('a', ''))";
    await ask(
      `CREATE TABLE ${table} ${definition}`,
      `INSERT INTO ${table} VALUES (1, 'good1@sluice.test', '')`,
    );
    if (options.key !== undefined) await ask(`CREATE TABLE other ${definition}`);
    await (
      await startVerifying()
    ).run({
      source: source(`SELECT id, email, e FROM ${table}`),
      sink: sink({ into: 'other', ...options }),
      email: ['email'],
    });
    expect(await ask('SELECT e FROM other')).toEqual([{ e: '' }]);
  },
);
