import { quoteName } from '../tables/table-plan.js';
import type { PartKind } from '../../files/partitions/parts-folder.js';
import { secondDigits } from '../../rows/values/kinds.js';
import {
  byFormat,
  escapedText,
  integersAs,
  namesOf,
  type Load,
  type LoadDialect,
  typesByKind,
} from './load-dialect.js';

const mostFiles = 1000;
const mostDigits = 38;

/** Reserved words, which need quotes. */
const reserved = new Set(
  `account all alter and any as between by case cast check column connect connection constraint create cross
  current current_date current_time current_timestamp current_user database delete distinct drop else exists
  false following for from full grant group gscluster having ilike in increment inner insert intersect into is
  issue join lateral left like localtime localtimestamp minus natural not null of on or order organization
  qualify regexp revoke right rlike row rows sample schema select set some start table tablesample then to
  trigger true try_cast union unique update using values view when whenever where with`.split(
    /\s+/,
  ),
);

/** A plain name: unquoted it is upper case, as is usual there. */
function plainName(name: string): string {
  if (!/^[a-z_][\w$]*$/i.test(name)) return quoteName(name);
  return reserved.has(name.toLowerCase()) ? quoteName(name.toUpperCase()) : name;
}

export const snowflake: LoadDialect = {
  label: 'Snowflake',
  isRun: false,
  formats: ['csv', 'tsv', 'jsonl', 'parquet'],
  nameParts: 3,
  quote: plainName,
  ignoresCase: true,
  longestName: { most: 255, unit: 'characters' },
  text: 'VARCHAR',
  typeOf: typesByKind({
    // All integers are one type of 38 digits.
    ...integersAs('INTEGER'),
    decimal: decimalType,
    boolean: 'BOOLEAN',
    float32: 'FLOAT',
    float64: 'FLOAT',
    date: 'DATE',
    time: (kind) => `TIME(${secondDigits(kind)})`,
    timestamp: (kind) => `TIMESTAMP_NTZ(${secondDigits(kind)})`,
    timestamptz: (kind) => `TIMESTAMP_TZ(${secondDigits(kind)})`,
    json: 'VARIANT',
    binary: 'BINARY',
    // Stored as sixteen bytes.
    uuid: byFormat('BINARY(16)', 'VARCHAR'),
  }),
  places: { form: /^@[\w.%~$]+(?:\/[\w.%=~+-]+)*\/?$/, example: '@my_stage/verified/' },
  load: (load) => copyAll(load, 'CASE_INSENSITIVE'),
};

function decimalType({ precision, scale = 0 }: PartKind): string | undefined {
  if (precision === undefined) return scale === 0 ? 'NUMBER(38, 0)' : 'NUMBER(38, 10)';
  return precision > mostDigits || scale >= mostDigits
    ? undefined
    : `NUMBER(${precision}, ${scale})`;
}

/** With quoted names, which keep their case. */
export const exactSnowflake: LoadDialect = {
  ...snowflake,
  quote: quoteName,
  ignoresCase: false,
  load: (load) => copyAll(load, 'CASE_SENSITIVE'),
};

type Matching = 'CASE_SENSITIVE' | 'CASE_INSENSITIVE';

function copyAll(load: Load, matching: Matching): readonly string[] {
  const { manifest } = load;
  const names = manifest.parts.map(({ name }) => name);
  const copies: string[] = [];
  for (let at = 0; at < names.length; at += mostFiles) {
    copies.push(copyInto(load, names.slice(at, at + mostFiles), matching));
  }
  return copies.length === 1 ? copies : ['BEGIN TRANSACTION;', ...copies, 'COMMIT;'];
}

function copyInto(
  { table, columns, manifest, from }: Load,
  names: readonly string[],
  matching: Matching,
): string {
  const { format } = manifest;
  const isByName = format === 'jsonl' || format === 'parquet';
  const isParsed = !isByName && columns.some(({ kind }) => kind.name === 'json');
  const cells = columns.map(({ kind }, at) =>
    kind.name === 'json' ? `PARSE_JSON($${at + 1})` : `$${at + 1}`,
  );
  const list = `(${namesOf(columns)})`;
  return [
    `COPY INTO ${table}${isByName ? '' : ` ${list}`}`,
    isParsed ? `FROM (SELECT ${cells.join(', ')} FROM ${from})` : `FROM ${from}`,
    `FILES = (${names.map((name) => escapedText(name)).join(', ')})`,
    `FILE_FORMAT = (${fileFormat(manifest)})`,
    ...(isByName ? [`MATCH_BY_COLUMN_NAME = ${matching}`] : []),
    'ON_ERROR = ABORT_STATEMENT;',
  ].join('\n');
}

function fileFormat({ format, header, delimiter = ',', quote }: Load['manifest']): string {
  if (format === 'parquet') return 'TYPE = PARQUET USE_LOGICAL_TYPE = TRUE BINARY_AS_TEXT = FALSE';
  if (format === 'jsonl') return 'TYPE = JSON COMPRESSION = GZIP';
  const enclosed = quote === null || quote === undefined ? 'NONE' : escapedText(quote);
  return [
    'TYPE = CSV COMPRESSION = GZIP',
    `FIELD_DELIMITER = ${escapedText(delimiter)} SKIP_HEADER = ${header ? 1 : 0}`,
    `FIELD_OPTIONALLY_ENCLOSED_BY = ${enclosed} ESCAPE_UNENCLOSED_FIELD = NONE`,
    'EMPTY_FIELD_AS_NULL = TRUE NULL_IF = ()',
  ].join(' ');
}
