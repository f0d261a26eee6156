import pg from 'pg';
import { inject } from 'vitest';

/** Runs a statement on the tests' server. */
export async function askPostgres(
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(text, [...values]);
    return result.rows;
  } finally {
    await client.end();
  }
}
