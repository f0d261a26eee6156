import { ConfigurationError, InputError } from '../../errors/family.js';
import { permissionsOf } from '../../formats/no-more-open.js';
import { invalidText } from '../../rows/row-chunk.js';
import type { Source } from '../../rows/source.js';
import { writeAny } from '../cell-text.js';
import { querySource, type Asking } from '../query-source.js';
import type { TableForm } from '../table-form.js';
import type { QueryRows } from '../table-source.js';
import { openSqlite, sqliteFailure, sqlitePath, type SqliteDatabase } from './open-sqlite.js';
import { isBooleanType } from './sqlite-kinds.js';

export interface SqliteSourceOptions {
  /** `sqlite:path`, or the path itself. */
  readonly url: string;
  /** One statement that gives rows and can stand where a table can. */
  readonly query: string;
}

/** Rows that are taken in one turn of the event loop: the driver holds it up. */
const rowsAtOnce = 500;

/**
 * The rows of a query in an SQLite file. Each cell has a type of its own there, which it keeps.
 *
 * @throws ConfigurationError; opened, ConfigurationError when the query is wrong, InputError
 *   `input_unreadable` when the file is
 */
export function sqliteSource(options: SqliteSourceOptions): Source {
  const path = sqlitePath(options.url);
  return querySource({
    name: `sqlite:${path}`,
    query: options.query,
    permissions: () => permissionsOf(path),
    tellFailure: sqliteFailure,
    connect: () => openSqlite(path, { mustExist: true }),
    askRows,
  });
}

function askRows(database: SqliteDatabase, { query, refuse, signal }: Asking): QueryRows {
  const fields = database.columns(query);
  if (fields.length === 0) {
    throw new ConfigurationError('the query gives no rows: it has to be a statement that does');
  }
  const names = fields.map((_, at) => `c${at}`);
  // Text comes as bytes: the driver ends the process over those that are none.
  const cells = names.map(
    (cell) =>
      `typeof(${cell}), CASE typeof(${cell}) WHEN 'text' THEN CAST(${cell} AS BLOB) ELSE ${cell} END`,
  );
  // The line end closes a comment at the query's end.
  const sql = `WITH sluice(${names.join(', ')}) AS (${query}\n) SELECT ${cells.join(', ')} FROM sluice`;
  database.run('BEGIN');
  const rows = database.rows(sql);
  const form: TableForm = {
    dialect: 'sqlite',
    store: database.store,
    columns: fields.map(({ name, type, table, column }) => ({
      name,
      kind: 'any',
      type: type ?? '',
      ...(table !== null && column !== null && { origin: { table, column } }),
    })),
  };
  let isOpen = true;
  return {
    form,
    bytes: printRows(rows, form, refuse, signal),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      // The driver holds the file locked for as long as a statement has not ended.
      database.stop(rows);
      database.close();
    },
  };
}

async function* printRows(
  rows: IterableIterator<readonly unknown[]>,
  form: TableForm,
  refuse: (error: unknown) => never,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const areBooleans = form.columns.map(({ type }) => isBooleanType(type));
  const take = (): string[] => {
    const lines: string[] = [];
    while (lines.length < rowsAtOnce) {
      const step = rows.next();
      if (step.done === true) break;
      const row = step.value;
      const cells = areBooleans.map((isBoolean, at) => {
        const value = cellOf(row[2 * at], row[2 * at + 1]);
        if (value === invalidText) throw brokenText(form.columns[at]?.name ?? '');
        return writeAny(isBoolean && (value === 0n || value === 1n) ? value === 1n : value);
      });
      lines.push(`${cells.join('\t')}\n`);
    }
    return lines;
  };
  for (;;) {
    signal?.throwIfAborted();
    let lines: string[];
    try {
      lines = take();
    } catch (error) {
      return refuse(error);
    }
    if (lines.length > 0) yield Buffer.from(lines.join(''));
    if (lines.length < rowsAtOnce) return;
    // The rest of the process must not wait for all of the rows.
    await new Promise(setImmediate);
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function cellOf(type: unknown, value: unknown): unknown {
  if (type !== 'text') return value;
  try {
    return decoder.decode(value as Uint8Array);
  } catch {
    return invalidText;
  }
}

function brokenText(column: string): InputError {
  return new InputError(
    `a cell of the column ${JSON.stringify(column)} is text with bytes that are no valid UTF-8: leave it out of the query, or cast it to a blob`,
  );
}
