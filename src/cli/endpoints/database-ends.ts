import { ConfigurationError, defaultStateDir, type Sink, type Source } from '../../index.js';
import type { ParsedOptions } from '../command.js';
import type { DatabaseUrl } from './list-places.js';

/**
 * The rows of a query.
 *
 * @throws ConfigurationError
 */
export async function databaseSource(
  { kind, url }: DatabaseUrl,
  options: ParsedOptions<'query'>,
): Promise<Source> {
  const query = options.text('query');
  if (query === undefined || query.trim() === '') {
    throw new ConfigurationError('say which rows of the database are meant: --query <sql>');
  }
  switch (kind) {
    case 'postgres': {
      const { postgresSource } = await import('../../lists/sql/postgres/index.js');
      return postgresSource({ url, query });
    }
    case 'sqlite': {
      const { sqliteSource } = await import('../../lists/sql/sqlite/index.js');
      return sqliteSource({ url, query });
    }
    case 'mysql': {
      const { mysqlSource } = await import('../../lists/sql/mysql/index.js');
      return mysqlSource({ url, query });
    }
    case 'duckdb': {
      const { duckdbSource } = await import('../../lists/sql/duckdb/index.js');
      return duckdbSource({ url, query });
    }
  }
}

/**
 * A table.
 *
 * @throws ConfigurationError
 */
export async function databaseSink(
  { kind, url }: DatabaseUrl,
  options: ParsedOptions<'into' | 'key'>,
): Promise<Sink> {
  const into = tableOption(options);
  const key = options.texts('key');
  const target = { url, into, ...(key.length > 0 && { key }) };
  switch (kind) {
    case 'postgres': {
      const { postgresSink } = await import('../../lists/sql/postgres/index.js');
      return postgresSink(target);
    }
    case 'sqlite': {
      const { sqliteSink } = await import('../../lists/sql/sqlite/index.js');
      return sqliteSink(target);
    }
    case 'mysql': {
      const { mysqlSink } = await import('../../lists/sql/mysql/index.js');
      return mysqlSink(target);
    }
    case 'duckdb': {
      const { duckdbSink } = await import('../../lists/sql/duckdb/index.js');
      return duckdbSink(target);
    }
  }
}

/** Where a run into a table keeps what it needs to go on. @throws ConfigurationError */
export function tableStateDirectory({ url }: DatabaseUrl, options: ParsedOptions<'into'>): string {
  return defaultStateDir(url, tableOption(options));
}

function tableOption(options: ParsedOptions<'into'>): string {
  const into = options.text('into');
  if (into !== undefined && into !== '') return into;
  throw new ConfigurationError('name the table that the rows go into: --into <table>');
}
