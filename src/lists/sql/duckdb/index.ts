import type { Sink } from '../../rows/sink.js';
import type { Source } from '../../rows/source.js';
import { querySource } from '../query-source.js';
import { tableSink, type TableKeyOptions } from '../tables/table-sink.js';
import * as connect from './connect.js';
import * as kinds from './kinds.js';
import * as query from './query.js';
import * as statements from './statements.js';

export type { TableKeyOptions } from '../tables/table-sink.js';

/** What these files export is what a dialect is made of. */
const duckdb = { ...connect, ...kinds, ...query, ...statements };

export interface DuckdbSourceOptions {
  /** `duckdb:path`, or the path itself; `duckdb::memory:` reads other files alone. */
  readonly url: string;
  /** One statement that gives rows and can be a subquery: `SELECT * FROM 'list.parquet'`. */
  readonly query: string;
}

/**
 * The rows of a query in a DuckDB file, which is opened for reading only; the query may read warehouse
 * files as well.
 *
 * @throws ConfigurationError; opened, ConfigurationError when the query is wrong, InputError
 *   `input_unreadable` when the file is
 *
 * @example
 * ```ts
 * const source = duckdbSource({ url: 'duckdb:crm.db', query: 'select id, email from contacts' });
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function duckdbSource(options: DuckdbSourceOptions): Source {
  return querySource(duckdb, options);
}

export interface DuckdbSinkOptions extends TableKeyOptions {
  /** `duckdb:path`, or the path itself; the file is made when it is not there. */
  readonly url: string;
  /** Name of the table: `contacts`, `crm.contacts`, or `"my.table"` where a dot belongs to it. */
  readonly into: string;
}

/**
 * A table in a DuckDB file. Rows go into a staging table and are applied in one transaction, with a
 * marker of the run: all of them are there or none, and writing them again changes nothing.
 *
 * @throws ConfigurationError when the table's name has not the form of one, or no file is named
 *
 * @example
 * ```ts
 * const sink = duckdbSink({ url: 'duckdb:crm.db', into: 'contacts_verified', key: 'id' });
 * const stateDir = 'contacts_verified.sluice';
 * await run({ source: 'contacts.csv', sink, stateDir, client, email: ['email'], country: 'US' });
 * ```
 */
export function duckdbSink(options: DuckdbSinkOptions): Sink {
  return tableSink(duckdb, options);
}
