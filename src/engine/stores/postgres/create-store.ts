import { checkOptions, required, text } from '../../../platform/options/check-options.js';
import { parseServerUrl } from '../../../lists/sql/server-url.js';
import { schemes } from '../../../lists/sql/postgres/client.js';
import { migrationSql } from './migrations.js';
import { prepareSchema } from './prepare-schema.js';
import { StoreConnection } from './store-connection.js';

const schema = 'sluice';

/**
 * Makes the tables and functions of a store, or brings them to this version: where the role of the runs
 * may not, before the first of them.
 *
 * @throws ConfigurationError when the role may not, or a newer version has made them; DeadlineError when
 *   the database is out of reach
 *
 * @example
 * ```ts
 * await createPostgresStore({ connectionString: url });
 * ```
 */
export async function createPostgresStore(options: {
  readonly connectionString: string;
}): Promise<void> {
  checkOptions(options, { connectionString: required(text) });
  const { connectionString: url } = options;
  const { name } = parseServerUrl(url, schemes);
  const connection = new StoreConnection({ url, name, giveUpAfterMs: 30_000 });
  try {
    await prepareSchema(connection, { schema, name });
  } finally {
    await connection.close();
  }
}

/**
 * The SQL with which somebody who may can make the tables and functions of a store.
 *
 * @example
 * ```ts
 * console.log(postgresStoreSql().includes('create schema')); // true
 * ```
 */
export function postgresStoreSql(): string {
  return migrationSql(schema);
}
