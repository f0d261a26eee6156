import type { Sink } from '../../rows/sink.js';
import type { Source } from '../../rows/source.js';
import { querySource } from '../query-source.js';
import { tableSink, type TableKeyOptions } from '../tables/table-sink.js';
import * as connect from './connect.js';
import * as query from './query.js';
import * as statements from './statements.js';

export type { TableKeyOptions } from '../tables/table-sink.js';

/** These files together implement the dialect. */
const sqlite = { ...connect, ...query, ...statements };

export interface SqliteSourceOptions {
  /** `sqlite:path`, or the path itself. */
  readonly url: string | URL;
  /** One statement that returns rows and can be a subquery. */
  readonly query: string;
}

/**
 * The rows of a query in an SQLite file. Each cell keeps its own type.
 *
 * @throws ConfigurationError; when opened, ConfigurationError for a wrong query, InputError
 * `input_unreadable` for an unreadable file
 *
 * @example
 * ```ts
 * const source = sqliteSource({ url: 'sqlite:crm.db', query: 'select id, email from contacts' });
 * await run({ source, sink: 'verified.csv', client, email: ['email'], country: 'US' });
 * ```
 */
export function sqliteSource(options: SqliteSourceOptions): Source {
  return querySource(sqlite, options);
}

export interface SqliteSinkOptions extends TableKeyOptions {
  /** `sqlite:path`, or the path itself; the file is created when missing. */
  readonly url: string | URL;
  /** Name of the table. */
  readonly into: string;
}

/**
 * A table in an SQLite file. Rows are staged and applied in one transaction, with a marker of the run: all or
 * none appear, and writing them again changes nothing.
 *
 * @throws ConfigurationError for an invalid table name
 *
 * @example
 * ```ts
 * const sink = sqliteSink({ url: 'sqlite:crm.db', into: 'contacts_verified', key: 'id' });
 * const stateDir = 'contacts_verified.sluice';
 * await run({ source: 'contacts.csv', sink, stateDir, client, email: ['email'], country: 'US' });
 * ```
 */
export function sqliteSink(options: SqliteSinkOptions): Sink {
  return tableSink(sqlite, options);
}
