import { ConfigurationError } from '../../../errors/family.js';
import { quoteName } from '../../names.js';
import { migrationSql, newestMigration } from './migrations.js';
import type { StoreConnection } from './store-connection.js';

/**
 * Makes the schema of a store, or brings it to this version.
 *
 * @throws ConfigurationError when the role may not, or a newer version of Sluice has made it
 */
export async function prepareSchema(
  connection: StoreConnection,
  { schema, name }: { readonly schema: string; readonly name: string },
): Promise<void> {
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
  if (number > newestMigration) {
    throw new ConfigurationError(
      `the schema ${schema} of ${name} was made by a newer version of Sluice; use that version, or another schema`,
    );
  }
  if (number < newestMigration) await connection.ask(migrationSql(schema));
}
