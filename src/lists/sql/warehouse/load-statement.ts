import { basename, resolve } from 'node:path';
import { parseTableName } from '../tables/table-plan.js';
import { ConfigurationError, type ErrorFault } from '../../../platform/errors/errors.js';
import { readPartsManifest, type PartsManifest } from '../../files/partitions/parts-folder.js';
import { printKind } from '../../rows/values/kinds.js';
import { bigquery } from './bigquery.js';
import { clickhouse } from './clickhouse.js';
import { databricks } from './databricks.js';
import { duckdb } from './duckdb.js';
import { lines, type LoadColumn, type LoadDialect } from './load-dialect.js';
import { postgres } from './postgres.js';
import { redshift } from './redshift.js';
import { exactSnowflake, snowflake } from './snowflake.js';
import { namesNear } from '../../../platform/text/closest-name.js';
import { optionName } from '../../../platform/text/sentence.js';

const dialects = { snowflake, bigquery, redshift, databricks, clickhouse, postgres, duckdb };

/** Where parts can be loaded. */
export type LoadTarget = keyof typeof dialects;

/** The same as a list. */
export const loadTargets = Object.keys(dialects) as readonly LoadTarget[];

export interface LoadStatementOptions {
  readonly for: LoadTarget;
  /** The table to create, with its schema: `crm.contacts`. @default the folder's name */
  readonly table?: string | undefined;
  /**
   * Where the warehouse finds the parts: a stage, a bucket.
   * @default the folder, for ClickHouse, PostgreSQL and DuckDB
   */
  readonly from?: string | undefined;
  /**
   * Column that identifies rows: existing rows with a loaded key are updated, others stay, new ones are
   * inserted. The table is created when missing.
   * @default none: the table is new
   */
  readonly key?: string | undefined;
  /**
   * Whether all names are quoted for Snowflake, which keeps their case; else plain ones are unquoted, and so
   * upper case, as usual there. Other warehouses always get quoted names. @default false
   */
  readonly quoteNames?: boolean | undefined;
}

/**
 * The statements that create a table for a folder of parts, with the types of its columns, and load all parts
 * into it, or merge them by key into an existing one. Nothing is run.
 *
 * @throws ConfigurationError for a column that the warehouse cannot represent
 *
 * @example
 * ```ts
 * const sink = partsSink('verified', { partBytes: 256_000_000, format: 'csv' });
 * await streamRun({ source: 'contacts.csv', sink, client, email: ['email'], country: 'US' });
 * const from = '@stage/verified/';
 * console.log(await loadStatement('verified', { for: 'snowflake', table: 'crm.contacts', from }));
 * ```
 */
export async function loadStatement(
  folder: string,
  options: LoadStatementOptions,
): Promise<string> {
  const isExact = options.for === 'snowflake' && options.quoteNames === true;
  const dialect: LoadDialect = isExact ? exactSnowflake : dialects[options.for];
  const manifest = await readPartsManifest(folder);
  checkFormat(manifest, dialect);
  const from = placeOf(folder, options.from, dialect);
  const columns = columnsOf(manifest, dialect);
  const name = options.table ?? quotedForParsing(basename(resolve(folder)));
  // A name given in quotes stays quoted.
  const isTableExact = options.for === 'snowflake' && options.table?.includes('"') === true;
  const table = tableOf(
    parseTableName(name, dialect.nameParts),
    isTableExact ? exactSnowflake : dialect,
  );
  const load = { columns, manifest, from, ...namesOf(manifest) };
  const create = (called: string): string =>
    `CREATE TABLE ${called} (\n${definitions(columns)}\n)${dialect.tableOptions?.(columns) ?? ''};`;
  const statements =
    options.key === undefined
      ? [create(table.name), ...dialect.load({ table: table.name, ...load })]
      : [
          `DROP TABLE IF EXISTS ${table.loaded};`,
          create(table.loaded),
          ...dialect.load({ table: table.loaded, ...load }),
          create(`IF NOT EXISTS ${table.name}`),
          mergeStatement(table, columns, keyOf(options.key, columns, dialect)),
          `DROP TABLE ${table.loaded};`,
        ];
  return [
    ...commentsOf(manifest, columns, dialect),
    ...(dialect.begin ?? []),
    ...statements,
    ...(dialect.end ?? []),
    '',
  ].join('\n');
}

function definitions(columns: readonly LoadColumn[]): string {
  return lines(columns.map(({ quoted, type }) => `${quoted} ${type}`));
}

interface TableNames {
  readonly name: string;
  readonly bare: string;
  /** A table beside it for the parts to be merged, and its name alone. */
  readonly loaded: string;
  readonly bareLoaded: string;
}

function tableOf(parts: readonly string[], { quote }: LoadDialect): TableNames {
  const within = parts.slice(0, -1);
  const bare = parts.at(-1) ?? '';
  const full = (last: string): string => [...within, last].map((part) => quote(part)).join('.');
  // A long name stays different when it is cut.
  const loaded = `sluice_load_${bare}`;
  return { name: full(bare), bare: quote(bare), loaded: full(loaded), bareLoaded: quote(loaded) };
}

function keyOf(
  given: string,
  columns: readonly LoadColumn[],
  { label, insteadOfMerge }: LoadDialect,
): LoadColumn {
  if (insteadOfMerge !== undefined) {
    throw new ConfigurationError(
      `${label} cannot merge by ${optionName('key')}: ${insteadOfMerge}`,
      { option: 'key', fault: 'unsupported' },
    );
  }
  const key = columns.find(({ name }) => name === given);
  if (key) return key;
  const names = namesNear(
    given,
    columns.map(({ name }) => name),
  );
  throw new ConfigurationError(
    `the parts have no column ${JSON.stringify(given)} (${optionName('key')}); their columns are: ${names}`,
    { code: 'column_not_found', option: 'key', column: given },
  );
}

function mergeStatement(
  { name, bare, loaded, bareLoaded }: TableNames,
  columns: readonly LoadColumn[],
  key: LoadColumn,
): string {
  const quoted = columns.map((column) => column.quoted);
  const changed = quoted.filter((column) => column !== key.quoted);
  const changes = changed.map((column) => `${column} = ${bareLoaded}.${column}`);
  return [
    `MERGE INTO ${name}`,
    `USING ${loaded}`,
    `ON ${bare}.${key.quoted} = ${bareLoaded}.${key.quoted}`,
    ...(changes.length > 0 ? [`WHEN MATCHED THEN UPDATE SET\n${lines(changes)}`] : []),
    `WHEN NOT MATCHED THEN INSERT (${quoted.join(', ')})`,
    `VALUES (${quoted.map((column) => `${bareLoaded}.${column}`).join(', ')});`,
  ].join('\n');
}

function quotedForParsing(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function checkFormat({ format, quote }: PartsManifest, dialect: LoadDialect): void {
  const { label, formats, needsQuotes = false } = dialect;
  if (!formats.includes(format)) {
    throw new ConfigurationError(
      `${label} does not read ${format} parts: write them as ${formats.join(', ')} (${optionName('sink.format')})`,
      { option: 'sink.format', fault: 'unsupported' },
    );
  }
  if (quote === null && needsQuotes) {
    throw new ConfigurationError(
      `${label} does not read cells without quotes: write the parts as jsonl or parquet (${optionName('sink.format')})`,
      { option: 'sink.quote', fault: 'unsupported' },
    );
  }
}

function placeOf(
  folder: string,
  given: string | undefined,
  { label, places }: LoadDialect,
): string {
  const { form, example, isLocal = false } = places;
  if (given === undefined && !isLocal) {
    throw new ConfigurationError(
      `${label} cannot read a folder of this machine: copy the parts to where it can, and name that: ${optionName('from')} ${example}`,
      { option: 'from', fault: 'missing' },
    );
  }
  const place = given ?? folder;
  const isPath = isLocal && !/^[a-z\d+.-]+:\/\//i.test(place);
  // Patterns, and characters that a script cannot hold.
  if (isPath ? /[*?[\]{}\p{Cc}]/u.test(place) : !form.test(place)) {
    throw new ConfigurationError(
      `${label} cannot load parts from ${JSON.stringify(place)}: name a place such as ${example}`,
      { option: 'from', fault: 'unsupported' },
    );
  }
  return place.endsWith('/') ? place : `${place}/`;
}

function columnsOf(
  { columns, kinds, format }: PartsManifest,
  dialect: LoadDialect,
): readonly LoadColumn[] {
  refuseNames(columns, dialect);
  return columns.map((name, at) => {
    const kind = kinds[at] ?? { name: 'text' };
    const type = kind.name === 'text' ? dialect.text : dialect.typeOf(kind, format);
    if (type === undefined && format === 'parquet') {
      throw new ConfigurationError(
        `${dialect.label} cannot load column ${JSON.stringify(name)} from Parquet parts: it is ${kind.nested === true ? 'nested' : printKind(kind)}; write the parts as csv or jsonl (${optionName('sink.format')})`,
        { option: 'sink.format', column: name, fault: 'unsupported' },
      );
    }
    return { name, quoted: dialect.quote(name), kind, type: type ?? dialect.text };
  });
}

function refuseNames(names: readonly string[], dialect: LoadDialect): void {
  const { label, ignoresCase, longestName, refusedName } = dialect;
  const seen = new Map<string, string>();
  for (const name of names) {
    const refuse = (why: string, fault: ErrorFault): never => {
      throw new ConfigurationError(
        `${label} cannot have a column ${JSON.stringify(name)}: ${why}; rename it in the input and write the parts again`,
        { column: name, fault },
      );
    };
    const { most, unit } = longestName;
    const length = unit === 'bytes' ? Buffer.byteLength(name) : name.length;
    if (name === '') refuse('it has no name', 'missing');
    if (length > most) refuse(`a name has at most ${most} ${unit}`, 'too_long');
    // A script on a terminal, and a one-line command, cannot hold it.
    if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name))
      refuse('it has a character that is not printed', 'unsupported');
    if (refusedName?.test(name) === true)
      refuse('names with such characters are not taken there', 'unsupported');
    const key = ignoresCase ? name.toLowerCase() : name;
    const before = seen.get(key);
    if (before === name) refuse('there are two of that name', 'repeated');
    if (before !== undefined) {
      refuse(
        `${JSON.stringify(before)} is the same name there, where case makes no difference${label === snowflake.label ? ` without ${optionName('quoteNames')}` : ''}`,
        'repeated',
      );
    }
    seen.set(key, name);
  }
}

/** The common beginning and end of the parts' names around their numbers. */
function namesOf({ parts }: PartsManifest): { readonly prefix: string; readonly suffix: string } {
  const [, prefix = '', suffix = ''] =
    /^(part-(?:[\da-f]{8}-)?)\d+(\..+)$/.exec(parts[0]?.name ?? '') ?? [];
  return { prefix, suffix };
}

function commentsOf(
  { format, compression, rows, parts }: PartsManifest,
  columns: readonly LoadColumn[],
  { label, isRun, text }: LoadDialect,
): readonly string[] {
  const packed = compression === null ? '' : `, ${compression}`;
  const asText = columns.filter(({ kind, type }) => kind.name !== 'text' && type === text);
  return [
    `-- ${label}: ${rows} rows in ${parts.length} ${parts.length === 1 ? 'part' : 'parts'} (${format}${packed}).`,
    ...(isRun
      ? []
      : [`-- Written by its documentation, and not run there: try it on a new table first.`]),
    ...asText.map(
      ({ name, kind }) =>
        `-- Column ${JSON.stringify(name)} is loaded as text: ${printKind(kind)}.`,
    ),
  ];
}
