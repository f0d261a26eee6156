import pg from 'pg';
import { startPostgres } from '../../test/servers/start-postgres.js';

/** Lends a PostgreSQL server with nothing in it; its settings are its own, but that it does not sync. */
export async function withPostgres<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = await startPostgres();
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
