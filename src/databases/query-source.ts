import type { FilePermissions } from '../rows/file-permissions.js';
import type { Source } from '../rows/source.js';
import type { DatabaseFailure } from './database-failure.js';
import { readingRefuser } from './refuse.js';
import type { TableChunk } from './table-chunk.js';
import { tableSource, type QueryRows } from './table-source.js';
import { useConnection, type Closable } from './use-connection.js';

/** What a query is asked with. */
export interface Asking {
  /** One statement, without the semicolon at its end. */
  readonly query: string;
  /** Says what a driver's error means; an abort passes untouched. */
  readonly refuse: (error: unknown) => never;
  readonly signal: AbortSignal | undefined;
}

export interface QuerySourceOptions<Connection> {
  /** How messages call the database; holds no password. */
  readonly name: string;
  readonly query: string;
  /** Where the database is a file. */
  readonly permissions?: () => Promise<FilePermissions>;
  /** Takes from a driver's error what may be said of it. */
  readonly tellFailure: (error: unknown) => DatabaseFailure;
  readonly connect: (signal?: AbortSignal) => Promise<Connection>;
  /** The rows let go of the connection when they are closed. */
  readonly askRows: (connection: Connection, asking: Asking) => QueryRows | Promise<QueryRows>;
}

/** The rows of a query, over a connection of their own that is opened when they are asked for. */
export function querySource<Connection extends Closable>({
  name,
  query: text,
  permissions,
  tellFailure,
  connect,
  askRows,
}: QuerySourceOptions<Connection>): Source<TableChunk> {
  const query = text.trim().replace(/;$/, '');
  return tableSource({
    name,
    query,
    ...(permissions && { permissions }),
    async ask(signal) {
      signal?.throwIfAborted();
      const refuse = readingRefuser(name, tellFailure, signal);
      return useConnection(
        () => connect(signal),
        refuse,
        (connection) => askRows(connection, { query, refuse, signal }),
      );
    },
  });
}
