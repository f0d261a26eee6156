import { ConfigurationError } from '../../../platform/errors/errors.js';
import { quoteName } from '../../../lists/sql/names.js';
import { migrationSql, newestMigration } from './migrations.js';
import type { StoreConnection } from './store-connection.js';

interface SchemaPlace {
  readonly schema: string;
  /** How messages call the store. */
  readonly name: string;
}

/**
 * Makes the schema of a store, or brings it to this version.
 *
 * @throws ConfigurationError when the role may not, or a newer version of Sluice has made it
 */
export async function prepareSchema(
  connection: StoreConnection,
  place: SchemaPlace,
): Promise<void> {
  if ((await schemaVersion(connection, place)) < newestMigration) {
    await connection.ask(migrationSql(place.schema));
  }
}

/**
 * The number of the latest migration that a schema has seen.
 *
 * @returns 0 where there is none
 * @throws ConfigurationError when a newer version of Sluice has made it
 */
export async function schemaVersion(
  connection: StoreConnection,
  { schema, name }: SchemaPlace,
): Promise<number> {
  const quoted = quoteName(schema);
  const [found] = await connection.ask<{ is_there: boolean }>(
    'select to_regclass($1) is not null as is_there',
    [`${quoted}.migration`],
  );
  const [made] = found?.is_there
    ? await connection.ask<{ number: number | null }>(
        `select max(number) as number from ${quoted}.migration`,
      )
    : [];
  const number = made?.number ?? 0;
  if (number <= newestMigration) return number;
  throw new ConfigurationError(
    `the schema ${schema} of ${name} was made by a newer version of Sluice; use that version, or another schema`,
  );
}
