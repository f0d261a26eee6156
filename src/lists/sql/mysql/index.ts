import type { Sink } from '../../rows/sink.js';
import type { Source } from '../../rows/source.js';
import { querySource } from '../query-source.js';
import { tableSink, type TableKeyOptions } from '../tables/table-sink.js';
import * as connect from './connect.js';
import * as query from './query.js';
import * as staging from './staging.js';
import * as statements from './statements.js';

export type { TableKeyOptions } from '../tables/table-sink.js';

/** These files together implement the dialect. */
const mysql = { ...connect, ...query, ...staging, ...statements };

export interface MysqlSourceOptions {
  /** `mysql://user:password@host:port/database`, also of MariaDB; its password is never shown. */
  readonly url: string | URL;
  /** One statement that returns rows and changes nothing: it runs in a read-only transaction. */
  readonly query: string;
}

/**
 * The rows of a query in MySQL or MariaDB, of one snapshot, streamed.
 *
 * @throws ConfigurationError for an invalid URL; when opened, ConfigurationError for a wrong query,
 * InputError `input_unreadable` for an unreachable server
 *
 * @example
 * ```ts
 * const source = mysqlSource({ url, query: 'select id, email from contacts' });
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function mysqlSource(options: MysqlSourceOptions): Source {
  return querySource(mysql, options);
}

export interface MysqlSinkOptions extends TableKeyOptions {
  /** `mysql://user:password@host:port/database`, also of MariaDB; its password is never shown. */
  readonly url: string | URL;
  /** Name of the table: `contacts`, or `crm.contacts` in another database of the server. */
  readonly into: string;
}

/**
 * A table in MySQL or MariaDB. Rows are staged; a new table appears by rename, an existing one is changed in
 * one transaction, each with a marker of the run.
 *
 * @throws ConfigurationError for an invalid URL or table name
 *
 * @example
 * ```ts
 * const sink = mysqlSink({ url, into: 'contacts_verified', key: 'id' });
 * const stateDir = 'contacts_verified.sluice';
 * await run({ source: 'contacts.csv', sink, stateDir, client, email: ['email'], country: 'US' });
 * ```
 */
export function mysqlSink(options: MysqlSinkOptions): Sink {
  return tableSink(mysql, options);
}
