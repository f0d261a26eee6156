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
const sqlite = { ...connect, ...kinds, ...query, ...statements };

export interface SqliteSourceOptions {
  /** `sqlite:path`, or the path itself. */
  readonly url: string;
  /** One statement that gives rows and can be a subquery. */
  readonly query: string;
}

/**
 * The rows of a query in an SQLite file. Each cell has a type of its own there, which it keeps.
 *
 * @throws ConfigurationError; opened, ConfigurationError when the query is wrong, InputError
 *   `input_unreadable` when the file is
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
  /** `sqlite:path`, or the path itself; the file is made when it is not there. */
  readonly url: string;
  /** Name of the table. */
  readonly into: string;
}

/**
 * A table in an SQLite file. Rows go into a staging table and are applied in one transaction, with a
 * marker of the run: all of them are there or none, and writing them again changes nothing.
 *
 * @throws ConfigurationError when the table's name has not the form of one
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
