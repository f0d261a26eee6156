import { InputError } from '../../../platform/errors/errors.js';
import { writeText } from '../cell-text.js';
import type { QueryOptions, QueryRows, Relation } from '../dialect.js';
import { formOfKind, type TableColumn } from '../tables/table-reading.js';
import type { DuckdbConnection } from './connect.js';
import { queryOrigins } from './tables.js';
import { printInterval } from '../../rows/values/civil-time.js';
import type { Kind, KindName } from '../../rows/values/kinds.js';
import { types, isNested } from './statements.js';

export async function ask(
  connection: DuckdbConnection,
  { query, asTable, signal }: QueryOptions<DuckdbConnection>,
): Promise<QueryRows> {
  const fields = await connection.query(`DESCRIBE SELECT * FROM ${asTable} AS sluice`);
  const origins = await queryOrigins(connection, query);
  const columns = fields.map(([field, printed]): TableColumn => {
    const type = String(printed);
    const origin = origins.get(String(field).toLowerCase());
    return {
      name: String(field),
      ...formOfKind(kindOfDuckdbType(type)),
      type,
      ...(origin && { origin }),
    };
  });
  const names = columns.map((_, at) => `c${at}`);
  const cells = columns.map(({ type }, at) => textOf(`c${at}`, type));
  // The driver ends the rows without a word when the query fails in the middle: a row of our own after
  // them shows that they are whole.
  const sql = `SELECT NULL, ${cells.join(', ')} FROM ${asTable} AS sluice(${names.join(', ')}) UNION ALL SELECT 'end', ${names.map(() => 'NULL').join(', ')}`;
  const printers = columns.map(({ kind }) => printersOf.get(kind) ?? writeText);
  return { columns, bytes: printRows(connection, sql, printers, signal) };
}

export async function relationsNamed(
  connection: DuckdbConnection,
  names: readonly string[],
): Promise<readonly Relation[]> {
  const isHere = (name: string): string =>
    `database_name = current_database() AND list_contains(string_split(?, chr(0)), lower(${name}))`;
  const found = await connection.query(
    `SELECT schema_name, table_name, NULL FROM duckdb_tables() WHERE ${isHere('table_name')}
      UNION ALL SELECT schema_name, view_name, sql FROM duckdb_views() WHERE ${isHere('view_name')}
      UNION ALL SELECT schema_name, function_name, macro_definition FROM duckdb_functions()
        WHERE macro_definition IS NOT NULL AND NOT internal AND ${isHere('function_name')}`,
    [1, 2, 3].map(() => names.join('\0')),
  );
  return found.map(([schema, name, definition]) => ({
    schema: String(schema),
    name: String(name),
    id: `${String(schema)}.${String(name)}`.toLowerCase(),
    definition: typeof definition === 'string' ? definition : undefined,
  }));
}

const printersOf = new Map<TableColumn['kind'], Printer>([
  ['interval', isoInterval],
  // It prints no zero before the point of a decimal that has no digits there.
  ['decimal', (text) => text.replace(/^(-?)\./, '$10.')],
  ['json', (text) => writeText(quoteSpecial(text))],
]);

/** JSON has no form for these numbers, which lists may have: they are written as a cell of their own would be. */
function quoteSpecial(json: string): string {
  if (!/NaN|Infinity/.test(json)) return json;
  return json.replaceAll(/"(?:[^"\\]|\\.)*"?|-?(?:NaN|Infinity)/g, (found) =>
    found.startsWith('"') ? found : `"${found}"`,
  );
}

async function* printRows(
  connection: DuckdbConnection,
  sql: string,
  printers: readonly Printer[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let isWhole = false;
  for await (const [ends = [], ...columns] of connection.stream(sql)) {
    const end = ends.indexOf('end');
    isWhole = end !== -1;
    const rows = isWhole ? end : ends.length;
    if (rows > 0) yield Buffer.from(printLines(columns, rows, printers));
    signal?.throwIfAborted();
  }
  if (isWhole) return;
  // Run again without its rows, it reports the error.
  await connection.query(`SELECT count(COLUMNS(*)) FROM (${sql})`);
  throw new InputError('the rows of the query broke off', { code: 'input_unreadable' });
}

/** Encodes a cell's text between two tabs. */
type Printer = (text: string) => string;

function printLines(
  columns: readonly (readonly (string | null)[])[],
  rows: number,
  printers: readonly Printer[],
): string {
  const lines: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const cells = columns.map((column, at) => {
      const cell = column[row];
      return cell === null || cell === undefined ? '\\N' : (printers[at] ?? writeText)(cell);
    });
    lines.push(`${cells.join('\t')}\n`);
  }
  return lines.join('');
}

const kinds = new Map<string, Kind>([
  ...(Object.entries(types) as [KindName, string][]).map(
    ([name, type]) => [type, { name }] as const,
  ),
  // Only their cells show how many digits they need.
  ['HUGEINT', { name: 'decimal', scale: 0 }],
  ['UHUGEINT', { name: 'decimal', scale: 0 }],
  ['BIGNUM', { name: 'decimal', scale: 0 }],
  ['TIME_NS', { name: 'time', scale: 9 }],
  ['TIMESTAMP_S', { name: 'timestamp', scale: 0 }],
  ['TIMESTAMP_MS', { name: 'timestamp', scale: 3 }],
  ['TIMESTAMP_NS', { name: 'timestamp', scale: 9 }],
  ['VARIANT', { name: 'json' }],
]);

function kindOfDuckdbType(type: string): Kind {
  if (isNested(type)) return { name: 'json' };
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (precision !== undefined) {
    return { name: 'decimal', precision: Number(precision), scale: Number(scale) };
  }
  return kinds.get(type) ?? { name: 'text' };
}

/** A column's cells as text in the format of `cell-text.ts`, except for special values. */
function textOf(column: string, type: string): string {
  switch (kindOfDuckdbType(type).name) {
    case 'boolean':
      return `CASE WHEN ${column} THEN 't' WHEN NOT ${column} THEN 'f' END`;
    case 'binary':
      return `'\\x' || lower(hex(${column}))`;
    case 'float32':
    case 'float64':
      return `CASE CAST(${column} AS VARCHAR) WHEN 'inf' THEN 'Infinity' WHEN '-inf' THEN '-Infinity' WHEN 'nan' THEN 'NaN' ELSE CAST(${column} AS VARCHAR) END`;
    case 'text':
      // The driver takes a byte-order mark in front of a text away.
      return `CASE WHEN starts_with(CAST(${column} AS VARCHAR), '\ufeff') THEN '\ufeff' ELSE '' END || CAST(${column} AS VARCHAR)`;
    case 'json':
      return type === 'JSON' ? `CAST(${column} AS VARCHAR)` : `CAST(to_json(${column}) AS VARCHAR)`;
    default:
      return `CAST(${column} AS VARCHAR)`;
  }
}

export function isoInterval(printed: string): string {
  const words = printed.split(' ');
  const count = (unit: string): number => {
    const at = words.findIndex((word) => word === unit || word === `${unit}s`);
    return at > 0 ? Number(words[at - 1]) : 0;
  };
  const [, sign, hours = 0, minutes = 0, seconds = 0, fraction = ''] =
    /^(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?$/.exec(words.at(-1) ?? '') ?? [];
  const micros =
    (BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(seconds)) * 1_000_000n +
    BigInt(fraction.padEnd(6, '0'));
  return printInterval({
    months: count('year') * 12 + count('month'),
    days: count('day'),
    micros: sign === '-' ? -micros : micros,
  });
}
