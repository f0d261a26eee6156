import type { OpenSinkOptions } from '../../rows/sink.js';
import type { Staging, Statements } from '../dialect.js';
import { parseJson } from '../../../platform/body.js';
import { RefusedRows } from '../failure.js';
import { quoteName } from '../names.js';
import type { NewColumn, TablePlan } from '../tables/table-plan.js';
import { stageValues, type CellValue } from '../tables/row-values.js';
import { rowsAtOnce, type DuckdbConnection } from './connect.js';
import { cellOf, duckdbInterval } from './kinds.js';

/** The rows as they come, all text: only the database itself knows what it takes for a cell of a type. */
const texts = 'sluice_texts';
/** The same with cells of the table's own types. */
const cells = 'sluice_staging';

export const statements: Statements = {
  quote: (name) => quoteName(name),
  parameter: () => '?',
  staging: `temp.${cells}`,
  rowNumber: 'sluice_row',
  stagedName: (_, at) => `c${at}`,
  addsOneColumn: true,
  // A key's index has to be held whole: what is paid for must not end in a bound of ours.
  begin: ['RESET max_memory', 'BEGIN'],
  // To write an indexed row is to delete it and make it again.
  skipsSame: ['update', 'upsert'],
  // Within a row, a column's collation does not count: small letters are no capitals.
  isSame: (cell, other) => `row(${cell}) IS NOT DISTINCT FROM row(${other})`,
  markers: {
    targetOf: ({ table }) => table,
    definition:
      'target VARCHAR PRIMARY KEY, run VARCHAR NOT NULL, digest VARCHAR NOT NULL, applied BIGINT NOT NULL, rows BIGINT NOT NULL, written_at TIMESTAMP WITH TIME ZONE NOT NULL',
    rowCount: 'rows',
    replace: 'INSERT OR REPLACE',
    now: 'now()',
  },
};

export async function stage(
  connection: DuckdbConnection,
  plan: TablePlan,
  opening: OpenSinkOptions,
): Promise<Staging> {
  const { columns } = plan;
  const names = columns.map(({ name }, at) => statements.stagedName(name, at));
  await connection.query(
    `CREATE TEMP TABLE ${texts} (${names.map((name) => `${name} VARCHAR`).join(', ')})`,
  );
  const typed = columns.map(({ type }, at) => `${cellOf(`c${at}`, type)} AS c${at}`);
  await connection.query(
    `CREATE TEMP VIEW ${cells} AS SELECT rowid AS sluice_row, ${typed.join(', ')} FROM temp.${texts}`,
  );
  const appender = await connection.append(texts);
  let waiting: (string | null)[][] = columns.map(() => []);
  const send = (): void => {
    if (waiting[0]?.length === 0) return;
    appender.add(waiting);
    waiting = columns.map(() => []);
  };
  const staged = stageValues(
    plan,
    opening,
    (values) => {
      for (const [at, { type }] of columns.entries()) {
        waiting[at]?.push(textOfValue(values[at] ?? null, type));
      }
      if (waiting[0]?.length === rowsAtOnce) send();
    },
    () => {
      send();
      appender.end();
    },
  );
  return { ...staged, prepare: () => refuseMisfits(connection, columns) };
}

async function refuseMisfits(
  connection: DuckdbConnection,
  columns: readonly NewColumn[],
): Promise<void> {
  const firsts = columns.map(
    ({ type }, at) =>
      `min(rowid) FILTER (c${at} IS NOT NULL AND ${cellOf(`c${at}`, type, 'TRY_CAST')} IS NULL)`,
  );
  const [found = []] = await connection.query(`SELECT ${firsts.join(', ')} FROM temp.${texts}`);
  const at = found.findIndex((row) => row !== null);
  if (at === -1) return;
  const { name = '', type = '' } = columns[at] ?? {};
  throw new RefusedRows('a cell does not fit', {
    kind: 'misfit',
    column: name,
    row: Number(found[at]) + 1,
    detail: `it takes ${type}`,
  });
}

function textOfValue(value: CellValue, type: string): string | null {
  if (value === null) return null;
  if (type === 'BLOB') return bytesOf(value).toString('hex');
  if (value instanceof Uint8Array) return `\\x${bytesOf(value).toString('hex')}`;
  if (type === 'JSON' && typeof value === 'string' && parseJson(value) === undefined)
    return JSON.stringify(value);
  return type === 'INTERVAL' ? duckdbInterval(String(value)) : String(value);
}

function bytesOf(value: Exclude<CellValue, null>): Buffer {
  if (!(value instanceof Uint8Array)) return Buffer.from(String(value));
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
