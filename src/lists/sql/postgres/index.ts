import type { Sink } from '../../rows/sink.js';
import type { Source } from '../../rows/source.js';
import { querySource } from '../query-source.js';
import { tableSink, type TableKeyOptions } from '../tables/table-sink.js';
import * as connect from './connect.js';
import * as kinds from './kinds.js';
import * as query from './query.js';
import * as statements from './statements.js';

export type { TableKeyOptions } from '../tables/table-sink.js';
export { createPostgresStore, postgresStoreSql } from '../../../engine/stores/postgres/schema.js';
export { findPostgresRuns } from '../../../engine/stores/postgres/postgres-store.js';
export {
  postgresStore,
  type PostgresStoreOptions,
} from '../../../engine/stores/postgres/postgres-store.js';

/** What these files export is what a dialect is made of. */
const postgres = { ...connect, ...kinds, ...query, ...statements };

export interface PostgresSourceOptions {
  /** `postgres://user:password@host:port/database`; its password is never shown. */
  readonly url: string;
  /** One statement that gives rows and changes nothing: it runs in a read-only transaction. */
  readonly query: string;
}

/**
 * The rows of a query in PostgreSQL, of one snapshot. In a durable run the server's transaction ends
 * when the rows are on disk, and not when they are verified.
 *
 * @throws ConfigurationError when the URL has not the form of one; opened, ConfigurationError when the
 *   query is wrong, InputError `input_unreadable` when the server is
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
  readonly url: string;
  /** Name of the table: `contacts`, `crm.contacts`, or `"my.table"` where a dot belongs to it. */
  readonly into: string;
  /**
   * Most rows that one transaction brings into a table that is there; more come in ranges of so many,
   * each of which is committed.
   * @default 10000000
   */
  readonly maxRowsPerCommit?: number | undefined;
}

/**
 * A table in PostgreSQL. Rows go into a staging table and are applied in one transaction, with a marker
 * of the run: all of them are there or none, and writing them again changes nothing.
 *
 * @throws ConfigurationError when the URL or the table's name has not the form of one
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
