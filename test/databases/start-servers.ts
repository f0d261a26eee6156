import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { freePort } from '../servers/free-port.js';
import { startPostgres, type DatabaseServer } from '../servers/start-postgres.js';
import { startProgram } from '../servers/start-program.js';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** Empty where no server is installed. */
    mysqlUrl: string;
  }
}

/** Starts the database servers that the tests need, once for all files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, mariadb] = await Promise.all([lendPostgres(), startMariadb()]);
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

async function startMariadb(): Promise<DatabaseServer> {
  const given = process.env['SLUICE_TEST_MYSQL_URL'];
  const none = { url: given ?? '', stop: async () => undefined };
  const program = '/usr/sbin/mariadbd';
  if (given || !existsSync(program)) return none;
  const folder = await mkdtemp(join(tmpdir(), 'sluice-mariadb-'));
  const isRoot = process.getuid?.() === 0;
  const data = join(folder, 'data');
  await promisify(execFile)('mariadb-install-db', [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    ...(isRoot ? ['--user=root'] : []),
  ]);
  const start = join(folder, 'start.sql');
  await writeFile(
    start,
    "CREATE DATABASE tests CHARACTER SET utf8mb4;\nCREATE USER 'tester'@'127.0.0.1' IDENTIFIED BY 'a secret of the tests';\nGRANT ALL ON *.* TO 'tester'@'127.0.0.1' WITH GRANT OPTION;\n",
  );
  const port = await freePort();
  const server = await startProgram(
    program,
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--init-file=${start}`,
      '--innodb-flush-log-at-trx-commit=0',
      ...(isRoot ? ['--user=root'] : []),
    ],
    'ready for connections',
  );
  return {
    url: `mysql://tester:a%20secret%20of%20the%20tests@127.0.0.1:${port}/tests`,
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
