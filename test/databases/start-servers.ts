import { existsSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { mariadbProgram, startMariadb } from '../servers/start-mariadb.js';
import { startPostgres, type DatabaseServer } from '../servers/start-postgres.js';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** Empty where no server is installed. */
    mysqlUrl: string;
  }
}

/** Starts the database servers that the tests need, once for all files. */
export async function startDatabases(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, mariadb] = await Promise.all([lendPostgres(), lendMariadb()]);
  project.provide('postgresUrl', postgres.url);
  project.provide('mysqlUrl', mariadb.url);
  return async () => {
    await Promise.all([postgres.stop(), mariadb.stop()]);
  };
}

async function lendPostgres(): Promise<DatabaseServer> {
  const given = process.env['SLUICE_TEST_POSTGRES_URL'];
  return given ? { url: given, stop: async () => undefined } : startPostgres();
}

async function lendMariadb(): Promise<DatabaseServer> {
  const given = process.env['SLUICE_TEST_MYSQL_URL'];
  if (!given && existsSync(mariadbProgram)) return startMariadb();
  return { url: given ?? '', stop: async () => undefined };
}
