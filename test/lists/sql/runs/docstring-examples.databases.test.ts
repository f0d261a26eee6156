import { expect, it } from 'vitest';
import { Client, rowsSource, streamRun } from '../../../../src/index.js';
import { examplesOf, runExample } from '../../../docs/examples/docstring-examples.js';
import { withService } from '../../../service/with-service.js';
import { duckdb } from '../duckdb/duckdb-database.js';
import { mariadb } from '../mysql/mysql-database.js';
import { newName } from '../harness/new-name.js';
import { postgres } from '../postgres/postgres-database.js';
import { sqlite } from '../sqlite/sqlite-database.js';
import type { Database } from '../suite/database.js';

/** The URL of a database of one example alone. */
async function newUrl({ open, server }: Database, entry: string): Promise<string> {
  if (!server) return `${entry}:crm.db`;
  const pathname = newName();
  await (await open()).ask(`CREATE DATABASE ${pathname}`);
  return Object.assign(new URL(server.url()), { pathname }).href;
}

it.each([
  ['postgres', postgres, 6],
  ['mysql', mariadb, 2],
  ['sqlite', sqlite, 2],
  ['duckdb', duckdb, 2],
] as const)('the examples of sluice/%s run', async (entry, database, count) => {
  const { service } = await withService();
  const codes = await examplesOf(`sluice/${entry}`);
  expect(codes).toHaveLength(count);
  const { sink } = await database.open();
  for (const code of codes) {
    const url = await newUrl(database, entry);
    await runExample(code, {
      url,
      async prepare() {
        const client = new Client(service);
        await streamRun({
          source: rowsSource([{ id: 1, email: 'good@sluice.test' }]),
          sink: sink({ url, into: 'contacts' }),
          client,
          email: ['email'],
          country: 'US',
        });
        await client.close();
      },
    });
  }
});
