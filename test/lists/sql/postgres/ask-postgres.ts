import pg from 'pg';
import { inject } from 'vitest';

/** Runs a statement on the tests' server. @param connectionString of another database */
export async function askPostgres(
  text: string,
  values: readonly unknown[] = [],
  connectionString = inject('postgresUrl'),
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const result = await client.query<Record<string, unknown>>(
      text,
      values.length > 0 ? [...values] : undefined,
    );
    return result.rows;
  } finally {
    await client.end();
  }
}
