import type { Sink } from '../../rows/sink.js';
import type { Source } from '../../rows/source.js';
import { querySource } from '../query-source.js';
import { tableSink, type TableKeyOptions } from '../tables/table-sink.js';
import * as connect from './connect.js';
import * as query from './query.js';
import * as statements from './statements.js';
import * as tables from './tables.js';

export type { TableKeyOptions } from '../tables/table-sink.js';

/** These files together implement the dialect. */
const duckdb = { ...connect, ...query, ...statements, ...tables };

export interface DuckdbSourceOptions {
  /** `duckdb:path`, or the path itself; `duckdb::memory:` reads other files alone. */
  readonly url: string | URL;
  /** One statement that returns rows and can be a subquery: `SELECT * FROM 'list.parquet'`. */
  readonly query: string;
}

/**
 * The rows of a query in a DuckDB file, opened read-only; the query may also read warehouse files.
 *
 * @throws ConfigurationError; when opened, ConfigurationError for a wrong query, InputError
 * `input_unreadable` for an unreadable file
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
  /** `duckdb:path`, or the path itself; the file is created when missing. */
  readonly url: string | URL;
  /** Name of the table: `contacts`, `crm.contacts`, or `"my.table"` for a name with a dot. */
  readonly into: string;
}

/**
 * A table in a DuckDB file. Rows are staged and applied in one transaction, with a marker of the run: all or
 * none appear, and writing them again changes nothing.
 *
 * @throws ConfigurationError for an invalid table name, or without a file
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
