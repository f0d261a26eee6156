import { existsSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { buildIfStale } from '../../../../scripts/build/dist.mjs';
import { mariadbProgram, startMariadb } from '../../../servers/start-mariadb.js';
import { pgbouncerProgram } from '../../../servers/start-pgbouncer.js';
import { startPostgres, type DatabaseServer } from '../../../servers/start-postgres.js';
import { redisProgram } from '../../../servers/start-redis.js';
import { clickhouseLibrary } from '../warehouse/ask-clickhouse.js';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    mysqlUrl: string;
  }
}

/** What the tests work with beside packages of npm, and what installs it. */
const needed: Readonly<Record<string, string>> = {
  [mariadbProgram]: 'apt-get install mariadb-server',
  [pgbouncerProgram]: 'apt-get install pgbouncer',
  [redisProgram]: 'apt-get install redis-server',
  '/usr/bin/psql': 'apt-get install postgresql-client',
  '/usr/bin/systemd-analyze': 'apt-get install systemd',
  [clickhouseLibrary]:
    'npm install --no-save --ignore-scripts --prefix .cache/clickhouse chdb@3.4.0',
};

/** Starts the database servers, once for all files of a suite. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = Object.keys(needed).filter((path) => !existsSync(path));
  if (missing.length > 0) {
    const installs = missing.map((path) => `${path} (${needed[path] ?? ''})`);
    const error = new Error(`the tests with databases need ${installs.join(', ')}`);
    // The stack of a module that Vitest has in its cache makes it fail before it says anything.
    error.stack = '';
    throw error;
  }
  const [postgres, mariadb] = await Promise.all([
    lend('SLUICE_TEST_POSTGRES_URL', startPostgres),
    lend('SLUICE_TEST_MYSQL_URL', startMariadb),
    buildIfStale(),
  ]);
  project.provide('postgresUrl', postgres.url);
  project.provide('mysqlUrl', mariadb.url);
  return async () => {
    await Promise.all([postgres.stop(), mariadb.stop()]);
  };
}

/** A server that an environment variable names, or one of these tests' own. */
async function lend(
  variable: string,
  start: () => Promise<DatabaseServer>,
): Promise<DatabaseServer> {
  const url = process.env[variable];
  return url ? { url, stop: async () => undefined } : start();
}
