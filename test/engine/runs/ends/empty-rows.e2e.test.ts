import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, expect, it } from 'vitest';
import type { Client } from '../../../../src/client/client.js';
import { sqliteSink, sqliteSource } from '../../../../src/lists/sql/sqlite/index.js';
import { rowsSink } from '../../../../src/lists/rows/rows-sink.js';
import { rowsSource, type RowsInput } from '../../../../src/lists/rows/sources/rows-source.js';
import { estimateRun } from '../../../../src/engine/runs/estimate.js';
import { run } from '../../../../src/engine/runs/run.js';
import { streamRun } from '../../../../src/engine/runs/stream-run.js';
import { caught, openClient } from '../../../client/test-client.js';
import { withFolder, withService } from '../../../service/with-service.js';

let folder: string;
let client: Client;
beforeEach(async () => {
  folder = await withFolder();
  const { service } = await withService();
  client = openClient(service);
});

type Contact = { readonly id: number; readonly email: string };

function settings() {
  const columns = { email: ['email'], country: 'US', pollIntervalMs: 1 } as const;
  return { client, stateDir: join(folder, 'state'), ...columns };
}

const empty: readonly (readonly [string, () => RowsInput])[] = [
  ['an array', () => []],
  ['a generator', () => [].values()],
  ['a stream', () => Readable.from([])],
];

it.each(empty)('%s without rows ends well, and replaces the output', async (_, rows) => {
  const sink = join(folder, 'out.csv');
  await writeFile(sink, 'id,email\n1,good@sluice.test\n');
  expect(await run({ ...settings(), source: rows(), sink })).toMatchObject({ rows: 0 });
  // Nobody knows the columns.
  expect(await readFile(sink, 'utf8')).toBe('');
  const known = rowsSource(rows(), { header: ['id', 'email'] });
  const columns = ['valid'] as const;
  expect(await run({ ...settings(), source: known, sink, columns })).toMatchObject({ rows: 0 });
  expect(await readFile(sink, 'utf8')).toBe('id,email,email_valid\n');
});

it.each(['out.csv', 'out.tsv', 'out.jsonl', 'out.txt', 'out.xlsx', 'out.parquet'])(
  'is written to %s',
  async (name) => {
    const sink = join(folder, name);
    expect(await run({ ...settings(), source: [], sink })).toMatchObject({ rows: 0 });
  },
);

it('is counted as none, also by streamRun() and estimateRun()', async () => {
  const { stateDir: _, ...given } = settings();
  const sink = rowsSink(() => {
    throw new Error('there are no rows');
  });
  expect(await streamRun({ ...given, source: [], sink })).toMatchObject({ rows: 0 });
  expect(await estimateRun({ ...given, source: [] })).toMatchObject({ rows: 0 });
});

it('leaves a table as it is, so that a delta of no rows changes nothing', async () => {
  const url = `sqlite:${join(folder, 'crm.db')}`;
  const nightly = (source: readonly Contact[]) =>
    run({ ...settings(), source, sink: sqliteSink({ url, into: 'contacts', key: 'id' }) });
  const query = 'select id, email from contacts';
  const count = async () => {
    const { stateDir: _, ...given } = settings();
    return (await estimateRun({ ...given, source: sqliteSource({ url, query }) })).rows;
  };
  // No table is made of columns that nobody knows.
  expect(await nightly([])).toMatchObject({ rows: 0 });
  await nightly([{ id: 1, email: 'good@sluice.test' }]);
  expect(await nightly([])).toMatchObject({ rows: 0 });
  expect(await count()).toBe(1);
});

it('is no list of rows without fields: these lack the column', async () => {
  const source = [{}, {}] as Contact[];
  const error = await caught(run({ ...settings(), source, sink: join(folder, 'out.csv') }));
  expect(error).toMatchObject({ code: 'column_not_found', option: 'header' });
});
