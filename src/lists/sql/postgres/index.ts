import type { Sink } from '../../rows/sink.js';
import type { Source } from '../../rows/source.js';
import { querySource } from '../query-source.js';
import { tableSink, type TableKeyOptions } from '../tables/table-sink.js';
import * as connect from './connect.js';
import * as query from './query.js';
import * as statements from './statements.js';

export type { TableKeyOptions } from '../tables/table-sink.js';
export { createPostgresStore, postgresStoreSql } from '../../../engine/stores/postgres/schema.js';
export { findPostgresRuns } from '../../../engine/stores/postgres/postgres-store.js';
export {
  postgresStore,
  type PostgresStoreOptions,
} from '../../../engine/stores/postgres/postgres-store.js';

/** These files together implement the dialect. */
const postgres = { ...connect, ...query, ...statements };

export interface PostgresSourceOptions {
  /** `postgres://user:password@host:port/database`; its password is never shown. */
  readonly url: string | URL;
  /** One statement that returns rows and changes nothing: it runs in a read-only transaction. */
  readonly query: string;
}

/**
 * The rows of a query in PostgreSQL, of one snapshot. In a durable run the server's transaction ends once the
 * rows are on disk, before they are verified.
 *
 * @throws ConfigurationError for an invalid URL; when opened, ConfigurationError for a wrong query,
 * InputError `input_unreadable` for an unreachable server
 *
 * @example
 * ```ts
 * const source = postgresSource({ url, query: 'select id, email from contacts' });
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function postgresSource(options: PostgresSourceOptions): Source {
  return querySource(postgres, options);
}

export interface PostgresSinkOptions extends TableKeyOptions {
  /** `postgres://user:password@host:port/database`; its password is never shown. */
  readonly url: string | URL;
  /** Name of the table: `contacts`, `crm.contacts`, or `"my.table"` for a name with a dot. */
  readonly into: string;
  /**
   * Most rows that one transaction writes into an existing table; more are committed in ranges of this size.
   * @default 10000000
   */
  readonly maxRowsPerCommit?: number | undefined;
}

/**
 * A table in PostgreSQL. Rows are staged and applied in one transaction, with a marker of the run: all or
 * none appear, and writing them again changes nothing.
 *
 * @throws ConfigurationError for an invalid URL or table name
 *
 * @example
 * ```ts
 * const sink = postgresSink({ url, into: 'contacts_verified', key: 'id' });
 * const stateDir = 'contacts_verified.sluice';
 * await run({ source: 'contacts.csv', sink, stateDir, client, email: ['email'], country: 'US' });
 * ```
 */
export function postgresSink(options: PostgresSinkOptions): Sink {
  return tableSink(postgres, {
    ...options,
    maxRowsPerCommit: options.maxRowsPerCommit ?? 10_000_000,
  });
}
