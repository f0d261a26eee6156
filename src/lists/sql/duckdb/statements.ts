import { parseJson } from '../../../platform/json.js';
import type { OpenSinkOptions } from '../../rows/sink.js';
import { bufferOf, printValue } from '../../rows/values/print-value.js';
import type { Staging, Statements } from '../dialect.js';
import { RefusedRows } from '../database-failure.js';
import { quoteName, type NewColumn, type TablePlan } from '../tables/table-plan.js';
import { stageValues, type CellValue } from '../tables/row-values.js';
import type { DuckdbConnection } from './connect.js';
import { parseInterval } from '../../rows/values/civil-time.js';
import { decimalDigits, type ColumnFacts } from '../../rows/values/kind-tally.js';
import { secondDigits, type KindName } from '../../rows/values/kinds.js';

/** Rows per chunk of DuckDB. */
const rowsAtOnce = 2048;

/** The rows as text: only the database itself decides what it accepts for a type. */
const texts = 'sluice_texts';
/** The same with the table's own types. */
const cells = 'sluice_staging';

export const statements: Statements = {
  quote: quoteName,
  ignoresCase: true,
  parameter: () => '?',
  staging: `temp.${cells}`,
  rowNumber: 'sluice_row',
  stagedName: (_, at) => `c${at}`,
  addsOneColumn: true,
  // A key's index must fit in memory: paid results must not fail on our limit.
  begin: ['RESET max_memory', 'BEGIN'],
  // Writing an indexed row deletes and recreates it.
  skipsSame: ['update', 'upsert'],
  // Within a row a column's collation does not apply: capitals and accents count, as for its unique indexes.
  isSame: (cell, other) => `row(${cell}) IS NOT DISTINCT FROM row(${other})`,
  isSameKey: (cell, other) => `row(${cell}) = row(${other})`,
  markers: {
    targetOf: ({ table }) => table,
    definition:
      'target VARCHAR PRIMARY KEY, run VARCHAR NOT NULL, digest VARCHAR NOT NULL, applied BIGINT NOT NULL, rows BIGINT NOT NULL, result_columns VARCHAR NOT NULL, written_at TIMESTAMP WITH TIME ZONE NOT NULL',
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
  return type === 'INTERVAL' ? duckdbInterval(String(value)) : (printValue(value) ?? null);
}

function bytesOf(value: Exclude<CellValue, null>): Buffer {
  return value instanceof Uint8Array ? bufferOf(value) : Buffer.from(String(value));
}

/** The types of new columns; limits of the database are below. */
export const types: Readonly<Record<KindName, string>> = {
  text: 'VARCHAR',
  boolean: 'BOOLEAN',
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INTEGER',
  int64: 'BIGINT',
  uint8: 'UTINYINT',
  uint16: 'USMALLINT',
  uint32: 'UINTEGER',
  uint64: 'UBIGINT',
  decimal: 'DECIMAL',
  float32: 'FLOAT',
  float64: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  interval: 'INTERVAL',
  uuid: 'UUID',
  json: 'JSON',
  binary: 'BLOB',
};

/** Whether cells are nested: lists, structures, maps. */
export function isNested(type: string): boolean {
  return /\]$|^(?:STRUCT|MAP|UNION)\(/.test(type);
}

/** Casts a staged text to a type. @param cast `TRY_CAST` gives null for a text that does not fit */
function cellOf(staged: string, type: string, cast: 'CAST' | 'TRY_CAST' = 'CAST'): string {
  if (type === 'VARCHAR') return staged;
  if (type === 'BLOB') return `unhex(${staged})`;
  if (!isNested(type) && type !== 'VARIANT') return `${cast}(${staged} AS ${type})`;
  const json = `${cast}(${staged} AS JSON)`;
  // JSON has bytes as text with escapes, which only a cast of text reads.
  const texts = type.replaceAll(/\bBLOB\b/g, 'VARCHAR');
  return `${cast}(${texts === type ? json : `${cast}(${json} AS ${texts})`} AS ${type})`;
}

function duckdbInterval(text: string): string {
  const found = parseInterval(text);
  if (!found) return text;
  const { months, days, micros } = found;
  return `${months} months ${days} days ${micros} microseconds`;
}

const mostDigits = 38;

export function typeOf(facts: ColumnFacts): string | undefined {
  const { kind = { name: 'text' }, isSpecial } = facts;
  const { name } = kind;
  const isFine = secondDigits(kind) > 6;
  switch (name) {
    case 'decimal': {
      const { precision, scale } = decimalDigits(facts);
      return precision > mostDigits || isSpecial ? undefined : `DECIMAL(${precision},${scale})`;
    }
    case 'time':
    case 'timestamp':
      if (isSpecial) return undefined;
      return isFine ? `${name.toUpperCase()}_NS` : types[name];
    case 'date':
    case 'interval':
      return isSpecial ? undefined : types[name];
    case 'timestamptz':
      return isSpecial || isFine ? undefined : types[name];
    default:
      return types[name];
  }
}
