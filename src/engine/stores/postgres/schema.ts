import { createHash } from 'node:crypto';
import { quoteName } from '../../../lists/sql/tables/table-plan.js';
import { schemes } from '../../../lists/sql/postgres/client.js';
import { parseServerUrl } from '../../../lists/sql/database-url.js';
import { ConfigurationError, StateError } from '../../../platform/errors/errors.js';
import { checkOptions } from '../../../platform/check-options.js';
import { required, url as aUrl } from '../../../platform/option-kinds.js';
import claimFunctions from './claim-functions.sql';
import paceFunctions from './pace-functions.sql';
import runFunctions from './run-functions.sql';
import { StoreConnection, type StoreConnectionOptions } from './store-connection.js';
import tables from './tables.sql';
import type { WholeCopy, Values, StoreCalls, CopyPart } from '../shared/store-protocol.js';

/** The migrations of a schema; a released one never changes. psql runs the files, too: they name the schema `sluice`. */
const migrations: readonly string[] = [tables + paceFunctions + runFunctions + claimFunctions];

const newestMigration = migrations.length;

/** What a migration does, without its comments: builds before a release differ in it under one number. */
const digests = migrations.map((sql) =>
  createHash('sha256').update(sql.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ')).digest('hex'),
);

/** Inserted unescaped between quotes of three kinds. */
export const schemaName = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/**
 * The SQL that creates a schema or updates it to this version. One transaction that does nothing where
 * nothing is needed, and waits for a concurrent one.
 *
 * @param schema matches {@link schemaName}
 */
export function migrationSql(schema: string): string {
  const quoted = quoteName(schema);
  const steps = migrations.map(
    (sql, index) => `
  if not exists (select from ${quoted}.migration where number = ${index + 1}) then
    execute $migration$${sql.replaceAll(/\bsluice\./g, `${quoted}.`)}$migration$;
    insert into ${quoted}.migration (number, digest) values (${index + 1}, '${digests[index] ?? ''}');
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
    number int primary key, at timestamptz not null default clock_timestamp(), digest text);${steps.join('')}
end $sluice$;
`;
}

interface SchemaPlace {
  readonly schema: string;
  readonly name: string;
}

export async function prepareSchema(
  connection: StoreConnection,
  place: SchemaPlace,
): Promise<void> {
  if ((await schemaVersion(connection, place)) < newestMigration) {
    await connection.ask(migrationSql(place.schema));
    // Another build may have been first.
    await schemaVersion(connection, place);
  }
}

/** The number of a schema's latest migration, or 0. @throws StateError for one that another build has made */
export async function schemaVersion(
  connection: StoreConnection,
  { schema, name }: SchemaPlace,
): Promise<number> {
  const quoted = quoteName(schema);
  const [found] = await connection.ask<{ is_there: boolean }>(
    'select to_regclass($1) is not null as is_there',
    [`${quoted}.migration`],
  );
  const made = found?.is_there
    ? await connection.ask<{ number: number; digest: string | null }>(
        // An earlier build has no such column.
        `select number, to_jsonb(migration) ->> 'digest' as digest from ${quoted}.migration order by number`,
      )
    : [];
  const { number = 0 } = made.at(-1) ?? {};
  if (number > newestMigration) {
    throw new ConfigurationError(
      `the schema ${schema} of ${name} was made by a newer version of Sluice; use that version, or another schema`,
      { option: 'schema' },
    );
  }
  if (made.some((each) => each.digest !== digests[each.number - 1])) {
    throw new StateError(
      `the schema ${schema} of ${name} was made by another build of Sluice, whose tables or functions are different: finish its runs with that build, and then drop it (DROP SCHEMA ${quoted} CASCADE), which loses what unfinished runs have paid for; or name another database`,
      { code: 'state_damaged' },
    );
  }
  return number;
}

const schema = 'sluice';

/**
 * Creates or updates the tables and functions of a store: needed before the first run where the runs' role
 * may not.
 *
 * @throws ConfigurationError when the role may not, or a newer version has created them; DeadlineError when
 * the database is unreachable
 *
 * @example
 * ```ts
 * await createPostgresStore({ connectionString: url });
 * ```
 */
export async function createPostgresStore(options: {
  readonly connectionString: string | URL;
}): Promise<void> {
  checkOptions(options, { connectionString: required(aUrl) });
  const url = String(options.connectionString);
  const { name } = parseServerUrl(url, schemes);
  const connection = new StoreConnection({ url, name, giveUpAfterMs: 30_000 });
  try {
    await prepareSchema(connection, { schema, name });
  } finally {
    await connection.close();
  }
}

/**
 * The SQL that creates the tables and functions of a store, to be run by a privileged role.
 *
 * @example
 * ```ts
 * console.log(postgresStoreSql().includes('create schema')); // true
 * ```
 */
export function postgresStoreSql(): string {
  return migrationSql(schema);
}

/** A notification that takes too long is dropped: its entry is recorded anyway. */
const notifyPatienceMs = 1000;

/** The functions of a schema in PostgreSQL. */
export class SchemaCalls implements StoreCalls {
  readonly #options: StoreConnectionOptions & { readonly schema: string };
  readonly #connection: StoreConnection;

  constructor(options: StoreConnectionOptions & { readonly schema: string }) {
    this.#options = options;
    this.#connection = new StoreConnection(options);
  }

  async prepare(): Promise<void> {
    await prepareSchema(this.#connection, this.#options);
  }

  async call<Content>(name: string, values: Values, patienceMs?: number): Promise<Content> {
    const names = Object.keys(values).map((key, index) => `p_${key} => $${index + 1}`);
    const [row] = await this.#connection.ask<{ answer: Content }>(
      `select ${this.#schema}.${name}(${names.join(', ')}) as answer`,
      Object.values(values),
      patienceMs,
    );
    // A function returns one row.
    return (row as { answer: Content }).answer;
  }

  listen(listener: (payload: string | undefined) => void): void {
    this.#connection.listen(listener);
  }

  async notify(payload: string): Promise<void> {
    await this.#connection.ask('select pg_notify($1, $2)', ['sluice', payload], notifyPatienceMs);
  }

  async kept(
    table: 'results' | 'recalled',
    run: string,
    life: string,
    label?: string,
  ): Promise<readonly Uint8Array[]> {
    // Whoever has begun the run has kept what counts.
    const whose = `owner = (select owner from ${this.#schema}.journal where run = $1 order by seq limit 1)`;
    const rows = await this.#connection.ask<{ bytes: Buffer }>(
      `select bytes from ${this.#schema}.${table}
       where run = $1 and ${label === undefined ? whose : 'batch = $3'}
         and exists (select from ${this.#schema}.run where run = $1 and life = $2)
       order by part`,
      label === undefined ? [run, life] : [run, life, label],
    );
    return rows.map(({ bytes }) => bytes);
  }

  async copied(run: string, life: string): Promise<WholeCopy | undefined> {
    const [found] = await this.#connection.ask<WholeCopy>(
      `select copied as parts, copied_of as of from ${this.#schema}.run
       where run = $1 and life = $2 and copied is not null`,
      [run, life],
    );
    return found;
  }

  async copyPart(run: string, part: number): Promise<CopyPart | undefined> {
    const [found] = await this.#connection.ask<{ checksum: string; bytes: Buffer }>(
      `select checksum, bytes from ${this.#schema}.copy where run = $1 and part = $2`,
      [run, part],
    );
    return found && { checksum: Number(found.checksum), bytes: found.bytes };
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  get #schema(): string {
    return quoteName(this.#options.schema);
  }
}
