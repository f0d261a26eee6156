import { inject, it } from 'vitest';
import { Client, rowsSource, streamRun, type Sink } from '../../src/index.js';
import { duckdbSink } from '../../src/databases/duckdb/index.js';
import { mysqlSink } from '../../src/databases/mysql/index.js';
import { postgresSink } from '../../src/databases/postgres/index.js';
import { sqliteSink } from '../../src/databases/sqlite/index.js';
import { exportedNames, runExample } from '../docs/docstring-examples.js';
import { withService } from '../service/with-service.js';
import { askMysql } from './mysql/ask-mysql.js';
import { newName } from './new-name.js';
import { askPostgres } from './postgres/ask-postgres.js';

/** A database of this test alone on a server. */
async function newDatabase(url: string, ask: (sql: string) => Promise<unknown>): Promise<string> {
  const name = newName();
  await ask(`create database ${name}`);
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

const databases: readonly (readonly [string, () => Promise<string>])[] = [
  ['postgres', async () => newDatabase(inject('postgresUrl'), askPostgres)],
  ['mysql', async () => newDatabase(inject('mysqlUrl'), askMysql)],
  ['sqlite', async () => 'sqlite:crm.db'],
  ['duckdb', async () => 'duckdb:crm.db'],
];

function contactsTable(kind: string, url: string): Sink {
  const table = { url, into: 'contacts' };
  if (kind === 'postgres') return postgresSink(table);
  if (kind === 'mysql') return mysqlSink(table);
  return kind === 'sqlite' ? sqliteSink(table) : duckdbSink(table);
}

it.each(databases)('the examples of sluice/%s run', async (kind, findUrl) => {
  const { service } = await withService();
  const names = await exportedNames();
  const codes = names
    .filter(({ entry }) => entry === `sluice/${kind}`)
    .flatMap(({ examples }) => examples);
  if (codes.length !== (kind === 'postgres' ? 6 : 2)) throw new Error(`${codes.length} examples`);
  for (const code of codes) {
    const url = await findUrl();
    await runExample(code, {
      url,
      async prepare() {
        const client = new Client(service);
        await streamRun({
          source: rowsSource([{ id: 1, email: 'good@sluice.test' }]),
          sink: contactsTable(kind, url),
          client,
          email: ['email'],
          country: 'US',
        });
        await client.close();
      },
    });
  }
});
