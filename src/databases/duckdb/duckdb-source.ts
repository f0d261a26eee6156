import { InputError } from '../../errors/family.js';
import { permissionsOf } from '../../formats/no-more-open.js';
import type { Source } from '../../rows/source.js';
import { writeText } from '../cell-text.js';
import { querySource, type Asking } from '../query-source.js';
import type { TableColumn } from '../table-form.js';
import type { QueryRows } from '../table-source.js';
import { duckdbFailure } from './duckdb-failure.js';
import { kindOfDuckdbType, textOf } from './duckdb-kinds.js';
import { duckdbPath, openDuckdb, type DuckdbDatabase } from './open-duckdb.js';
import { queryOrigins } from './query-origins.js';

export interface DuckdbSourceOptions {
  /** `duckdb:path`, or the path itself; `duckdb::memory:` reads other files alone. */
  readonly url: string;
  /** One statement that gives rows and can stand where a table can: `SELECT * FROM 'list.parquet'`. */
  readonly query: string;
}

/**
 * The rows of a query in a DuckDB file, which is opened for reading only; the query may read warehouse
 * files as well.
 *
 * @throws ConfigurationError; opened, ConfigurationError when the query is wrong, InputError
 *   `input_unreadable` when the file is
 */
export function duckdbSource(options: DuckdbSourceOptions): Source {
  const path = duckdbPath(options.url);
  return querySource({
    name: `duckdb:${path}`,
    query: options.query,
    ...(path !== ':memory:' && { permissions: () => permissionsOf(path) }),
    tellFailure: duckdbFailure,
    connect: () => openDuckdb(path, { isWritten: false }),
    askRows,
  });
}

async function askRows(
  database: DuckdbDatabase,
  { query, refuse, signal }: Asking,
): Promise<QueryRows> {
  // The line end closes a comment at the query's end.
  const fields = await database.rows(`DESCRIBE SELECT * FROM (${query}\n) AS sluice`);
  const origins = await queryOrigins(database, query);
  const columns = fields.map(([field, printed]): TableColumn => {
    const type = String(printed);
    const origin = origins.get(String(field));
    return { name: String(field), kind: kindOfDuckdbType(type), type, ...(origin && { origin }) };
  });
  const names = columns.map((_, at) => `c${at}`);
  const cells = columns.map(({ type }, at) => textOf(`c${at}`, type));
  // The driver ends the rows without a word when the query fails in the middle: a row of our own behind
  // them tells that they are whole.
  const sql = `SELECT NULL, ${cells.join(', ')} FROM (${query}\n) AS sluice(${names.join(', ')}) UNION ALL SELECT 'end', ${names.map(() => 'NULL').join(', ')}`;
  const stop = (): void => {
    database.interrupt();
  };
  signal?.addEventListener('abort', stop);
  return {
    form: { dialect: 'duckdb', store: database.store, columns },
    bytes: printRows(database, sql, refuse, signal),
    async close() {
      signal?.removeEventListener('abort', stop);
      database.close();
    },
  };
}

async function* printRows(
  database: DuckdbDatabase,
  sql: string,
  refuse: (error: unknown) => never,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let isWhole = false;
  try {
    for await (const [ends = [], ...columns] of database.stream(sql)) {
      const end = ends.indexOf('end');
      isWhole = end !== -1;
      const rows = isWhole ? end : ends.length;
      if (rows > 0) yield Buffer.from(printLines(columns, rows));
      signal?.throwIfAborted();
    }
    // Asked again without its rows, it says what is wrong.
    if (!isWhole) await database.rows(`SELECT count(COLUMNS(*)) FROM (${sql})`);
  } catch (error) {
    refuse(error);
  }
  if (!isWhole) {
    refuse(new InputError('the rows of the query broke off', { code: 'input_unreadable' }));
  }
}

function printLines(columns: readonly (readonly (string | null)[])[], rows: number): string {
  const lines: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const cells = columns.map((column) => {
      const cell = column[row];
      return cell === null || cell === undefined ? '\\N' : writeText(cell);
    });
    lines.push(`${cells.join('\t')}\n`);
  }
  return lines.join('');
}
