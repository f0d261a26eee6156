import { it } from 'vitest';
import { isJsonKind } from '../../../src/lists/jsonl/jsonl-writer.js';
import { parquetForm, type ParquetForm } from '../../../src/lists/parquet/parquet-form.js';
import { factsOfKind } from '../../../src/lists/rows/values/kind-tally.js';
import { kindNames, printKind, type Kind } from '../../../src/lists/rows/values/kinds.js';
import { typeOf as duckdb } from '../../../src/lists/sql/duckdb/statements.js';
import { typeOf as mysql } from '../../../src/lists/sql/mysql/statements.js';
import { typeOf as postgres } from '../../../src/lists/sql/postgres/statements.js';
import { typeOf as sqlite } from '../../../src/lists/sql/sqlite/statements.js';
import { isCellKind } from '../../../src/lists/xlsx/number-format.js';
import { expectPage } from './expect-page.js';

const kinds: readonly Kind[] = kindNames.flatMap((name): readonly Kind[] => {
  if (name === 'decimal') {
    return [{ name, precision: 10, scale: 2 }, { name, precision: 50, scale: 2 }, { name }];
  }
  const isClock = ['time', 'timestamp', 'timestamptz'].includes(name);
  return isClock ? [{ name }, { name, scale: 9 }] : [{ name }];
});

const sinks: readonly (readonly [name: string, typeOf: (kind: Kind) => string | undefined])[] = [
  ['CSV, TSV, TXT', () => undefined],
  ['JSONL', (kind) => (isJsonKind(kind) ? jsonOf(kind) : undefined)],
  ['XLSX', (kind) => (isCellKind(kind) ? cellOf(kind) : undefined)],
  ['Parquet', (kind) => elementOf(parquetForm(factsOfKind(kind)))],
  ['PostgreSQL', (kind) => postgres(factsOfKind(kind))],
  ['MySQL, MariaDB', (kind) => mysql(factsOfKind(kind))],
  ['SQLite', (kind) => sqlite(factsOfKind(kind))],
  ['DuckDB', (kind) => duckdb(factsOfKind(kind))],
];

it('docs/reference/kinds.md shows what each output makes of each kind of value', async () => {
  const rows = kinds.map((kind) => {
    const fine = kind.scale === 9 ? ', nanoseconds' : '';
    const cells = sinks.map(([, typeOf]) => {
      const type = typeOf(kind);
      return type === undefined ? 'text' : `\`${type.replace(' NULL DEFAULT NULL', '')}\``;
    });
    return `| ${printKind(kind)}${fine} | ${cells.join(' | ')} |`;
  });
  await expectPage('docs/reference/kinds.md', [
    '# Kinds of values',
    '',
    'Made by `npm run pages` from the code that gives columns their types. Tests carry every kind from every source to every output, and have another program read it there.',
    '',
    'Each column holds values of one kind, from its source to its output. What an output cannot keep exactly becomes text, in the form in which the source prints it; the run says so once for each column, on standard error and as an event, before anything is sent. `text` in the table stands for that.',
    '',
    `| kind | ${sinks.map(([name]) => name).join(' | ')} |`,
    `|${' --- |'.repeat(sinks.length + 1)}`,
    ...rows,
    '',
    '- A decimal without bounds (`numeric` of PostgreSQL) has the digits of its row where bounds are needed, more where its values need them.',
    '- A column of PostgreSQL, SQLite or DuckDB goes into a new table of the same database with the type that it has there.',
    "- Values that only their source knows (`infinity`, `NaN`, `0000-00-00`, a year beyond 9999, 24 o'clock) make a column text where the output has no such value. A moment outside of 1970 to 2037 does so in MySQL and MariaDB.",
    '- In a workbook each cell is a number, a date or text of its own: integers from 2⁵³ on, decimals of more than 15 digits, times finer than a millisecond and dates before March 1900 are text there.',
    '- A column whose cells have nothing in common, as JSON lines, workbooks, SQLite and rows in code may have one, is text in Parquet and in tables.',
    '- JSON keeps its digits, repeated keys and order everywhere but in a table whose type rewrites it: `jsonb` of PostgreSQL, `JSON` of MySQL (not of MariaDB). Durations are in ISO 8601 (`P1Y2M3DT4H5M6.5S`).',
    '',
    'Where the kinds come from:',
    '',
    '| source | kinds |',
    '| --- | --- |',
    '| CSV, TSV, TXT | text |',
    '| JSONL, rows in code | of each value: text, booleans, integers, floats, JSON; in code also moments (`Date`) and bytes |',
    '| XLSX | of each cell: text, booleans, numbers, and by its format dates, times, timestamps without zone |',
    "| Parquet | of the file's schema; nested columns are JSON |",
    "| PostgreSQL, MySQL, MariaDB, DuckDB | of the columns' types; arrays of PostgreSQL and types that are not in the table are text, lists and structures of DuckDB are JSON; places and shapes of MySQL are refused |",
    '| SQLite | of each cell: text, integers, floats, bytes, and booleans where the column says so |',
    '',
  ]);
});

function jsonOf({ name }: Kind): string {
  if (name === 'text') return 'string';
  if (name === 'boolean') return 'true, false';
  return name === 'json' ? 'value' : 'number';
}

function cellOf({ name }: Kind): string {
  if (name === 'text') return 'text';
  if (name === 'boolean') return 'boolean';
  return ['date', 'time', 'timestamp'].includes(name) ? 'date' : 'number';
}

/** A column of Parquet, by its logical type where it has one. */
function elementOf(form: ParquetForm | undefined): string | undefined {
  if (!form) return undefined;
  const { type, converted_type: converted, logical_type: logical, precision, scale } = form.element;
  if (converted === 'DECIMAL') return `DECIMAL(${precision},${scale})`;
  if (converted !== undefined) return converted === 'UTF8' ? 'STRING' : converted;
  if (!logical) return type;
  if (!('unit' in logical)) return logical.type;
  return `${logical.type}(${logical.unit}${logical.isAdjustedToUTC ? ', UTC' : ''})`;
}
