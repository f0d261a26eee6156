import { quoteName } from '../../../lists/sql/names.js';
import { claimFunctions } from './claim-functions.js';
import { paceFunctions } from './pace-functions.js';
import { copyFunctions } from './copy-functions.js';
import { runFunctions } from './run-functions.js';
import { tables } from './tables.js';

/** What makes a schema, step by step; a step that was released is never changed. */
const migrations: readonly string[] = [
  tables + paceFunctions + runFunctions + claimFunctions + copyFunctions,
];

/** The number of the newest migration. */
export const newestMigration = migrations.length;

/** Put into place as it is, between quotes of three kinds. */
export const schemaName = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/**
 * The SQL that brings a schema to what this version works with, from nothing or from an earlier version.
 * It is one transaction, does nothing where nothing is to be done, and waits for any other that is at it.
 *
 * @param schema matches {@link schemaName}
 */
export function migrationSql(schema: string): string {
  const quoted = quoteName(schema);
  const steps = migrations.map(
    (sql, index) => `
  if not exists (select from ${quoted}.migration where number = ${index + 1}) then
    execute $migration$${sql.replaceAll('{schema}', quoted)}$migration$;
    insert into ${quoted}.migration (number) values (${index + 1});
  end if;`,
  );
  return `do $sluice$
begin
  perform pg_advisory_xact_lock(hashtextextended('sluice ${schema}', 0));
  -- A role may have no right to make schemas where the one that it needs is there.
  if not exists (select from pg_namespace where nspname = '${schema}') then
    create schema ${quoted};
  end if;
  create table if not exists ${quoted}.migration (
    number int primary key, at timestamptz not null default clock_timestamp());${steps.join('')}
end $sluice$;
`;
}
