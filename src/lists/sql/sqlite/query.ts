import { InputError } from '../../../platform/errors/errors.js';
import { invalidText } from '../../rows/chunks/row-chunk.js';
import { writeAny } from '../cell-text.js';
import { givesNoRows } from '../query-source.js';
import type { QueryOptions, QueryRows, Relation } from '../dialect.js';
import type { SqliteConnection, SqliteField } from './connect.js';
import { strictTypeOf } from './statements.js';
import type { TableName, ExistingTable } from '../tables/table-plan.js';

/** Rows taken in one turn of the event loop, which the driver blocks. */
const rowsAtOnce = 500;

export async function ask(
  connection: SqliteConnection,
  asking: QueryOptions<SqliteConnection>,
): Promise<QueryRows> {
  const { query, asTable, signal } = asking;
  const fields = connection.columns(query);
  if (fields.length === 0) throw givesNoRows();
  const names = fields.map((_, at) => `c${at}`);
  // Text as bytes: the driver crashes on invalid text.
  const cells = names.map(
    (cell) =>
      `typeof(${cell}), CASE typeof(${cell}) WHEN 'text' THEN CAST(${cell} AS BLOB) ELSE ${cell} END`,
  );
  const isOfOne = await readsOneSelect(asking);
  await connection.query('BEGIN');
  const rows = connection.read(
    `WITH sluice(${names.join(', ')}) AS ${asTable} SELECT ${cells.join(', ')} FROM sluice`,
  );
  return {
    columns: fields.map(({ name, type, table, column }) => ({
      name,
      kind: 'any',
      type: type ?? '',
      ...(isOfOne && table !== null && column !== null && { origin: { table, column } }),
    })),
    bytes: printRows(rows, fields, signal),
  };
}

/** Whether all rows come from one SELECT: of several, the driver names the columns of only one. */
async function readsOneSelect({
  query,
  connect,
}: QueryOptions<SqliteConnection>): Promise<boolean> {
  // One that has explained a query cannot be interrupted any more.
  const connection = await connect();
  try {
    const steps = await connection.query(`EXPLAIN QUERY PLAN ${query}`);
    return !hasSeveralSelects(steps);
  } finally {
    await connection.close();
  }
}

/** @param steps how SQLite runs a query, with the subqueries of its conditions */
function hasSeveralSelects(steps: readonly (readonly unknown[])[]): boolean {
  const ofConditions = new Set<unknown>();
  return steps.some(([id, parent, , detail]) => {
    const step = String(detail);
    if (ofConditions.has(parent) || /^(?:CORRELATED )?(?:LIST|SCALAR) SUBQUERY/.test(step)) {
      ofConditions.add(id);
      return false;
    }
    return /^(?:COMPOUND QUERY|MERGE \(|RECURSIVE STEP)/.test(step);
  });
}

export async function relationsNamed(
  connection: SqliteConnection,
  names: readonly string[],
): Promise<readonly Relation[]> {
  const found = await connection.query(
    "SELECT name, CASE type WHEN 'view' THEN sql END FROM main.sqlite_master WHERE type IN ('table', 'view') AND lower(name) IN (SELECT value FROM json_each(?))",
    [JSON.stringify(names)],
  );
  return found.map(([name, definition]) => ({
    schema: 'main',
    name: String(name),
    id: String(name),
    definition: typeof definition === 'string' ? definition : undefined,
  }));
}

async function* printRows(
  rows: IterableIterator<readonly unknown[]>,
  fields: readonly SqliteField[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const areBooleans = fields.map(({ type }) => isBooleanType(type ?? ''));
  const take = (): string[] => {
    const lines: string[] = [];
    while (lines.length < rowsAtOnce) {
      const step = rows.next();
      if (step.done === true) break;
      const row = step.value;
      const cells = areBooleans.map((isBoolean, at) => {
        const value = cellOf(row[2 * at], row[2 * at + 1]);
        if (value === invalidText) throw brokenText(fields[at]?.name ?? '');
        return writeAny(isBoolean && (value === 0n || value === 1n) ? value === 1n : value);
      });
      lines.push(`${cells.join('\t')}\n`);
    }
    return lines;
  };
  for (;;) {
    signal?.throwIfAborted();
    const lines = take();
    if (lines.length > 0) yield Buffer.from(lines.join(''));
    if (lines.length < rowsAtOnce) return;
    // The rest of the process must not wait for all rows.
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
    `a cell of the column ${JSON.stringify(column)} is text with bytes that are not valid UTF-8: leave it out of the query, or cast it to a blob`,
    { column, fault: 'encoding' },
  );
}

/** A file has no schemas. */
export const nameParts = 1;

export async function locate(
  _: SqliteConnection,
  [table = '']: readonly string[],
): Promise<TableName> {
  return { within: ['main'], table };
}

export async function findTable(
  connection: SqliteConnection,
  { table }: TableName,
): Promise<ExistingTable | undefined> {
  const [found] = await connection.query(
    "SELECT name, type FROM main.sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)",
    [table],
  );
  if (!found) return undefined;
  const [[isStrict] = []] = await connection.query(
    "SELECT strict FROM pragma_table_list(?) WHERE schema = 'main'",
    [table],
  );
  const columns = await connection.query(
    'SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)',
    [table],
  );
  const primary = columns.filter(([, , at]) => Number(at) > 0).map(([column]) => String(column));
  const indexes: (readonly string[])[] = [];
  const caseless = new Set<string>();
  const unique = 'SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND partial = 0';
  for (const [index] of await connection.query(unique, [table])) {
    const parts = await connection.query(
      'SELECT name, coll FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno',
      [String(index)],
    );
    indexes.push(parts.map(([column]) => String(column)));
    for (const [column, order] of parts) if (order === 'NOCASE') caseless.add(String(column));
  }
  // Only in STRICT tables it is a type of its own, which keeps every cell.
  const isAny = (type: string): boolean => Number(isStrict) === 1 && /^any$/i.test(type);
  return {
    id: String(found[0]),
    isTable: found[1] === 'table',
    typeOf: Number(isStrict) === 1 ? strictTypeOf : undefined,
    columns: columns.map(([column, type, , hidden]) => ({
      name: String(column),
      isText: isTextType(String(type)),
      isPrinted: isTextType(String(type)) && !/^$|blob/i.test(String(type)),
      numberType: isTextType(String(type)) || isAny(String(type)) ? undefined : String(type),
      isGenerated: Number(hidden) > 1,
      isCaseless: caseless.has(String(column)),
    })),
    keys: primary.length === 0 ? indexes : [primary, ...indexes],
  };
}

/** Whether a declared type means booleans, which SQLite stores as 0 and 1. */
function isBooleanType(type: string): boolean {
  return /^bool(?:ean)?$/i.test(type);
}

/** Whether a column of a declared type keeps an empty text (affinity TEXT or none). */
function isTextType(type: string): boolean {
  return /char|clob|text|blob/i.test(type) || type === '';
}
