import pg from 'pg';
import { startPostgres } from '../../test/servers/start-postgres.js';

/**
 * Lends a PostgreSQL server with nothing in it.
 *
 * @param options.syncs whether what it commits is on the disk. @default false
 */
export async function withPostgres<T>(
  work: (url: string) => Promise<T>,
  { syncs = false }: { readonly syncs?: boolean } = {},
): Promise<T> {
  const server = await startPostgres(undefined, syncs);
  try {
    return await work(server.url);
  } finally {
    await server.stop();
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
