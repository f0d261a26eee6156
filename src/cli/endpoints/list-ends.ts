import {
  combinedSource,
  ConfigurationError,
  defaultStateDir,
  type FileOptions,
  listSource,
  type Sink,
  type Source,
  streamSource,
} from '../../index.js';
import { columnsFor } from '../../lists/files/file-format.js';
import { type DatabaseKind, showLocation } from '../../lists/location.js';
import {
  type CommandInput,
  type ParsedOptions,
  type Surroundings,
  omitUndefined,
} from '../command.js';
import { shellQuote } from '../../platform/text/printable.js';
import { checkRules } from '../options/option-types.js';
import { formOptions, type VerifyOption, verifyOptions } from '../options/verify-options.js';
import {
  type DatabaseLocation,
  isDatabase,
  listAt,
  type Location,
  resolvePath,
  standard,
} from './locations.js';
import {
  type DatabaseTable,
  endsOf,
  namesOf,
  selectNamed,
  tableIn,
  tablesOf,
} from './database-tables.js';
import { filesOfOutput, verdictOutput, findOutput, isSamePlace } from './output.js';

export interface ListEnds {
  readonly source: Source;
  readonly sink: Sink;
  /** Options of its format that decide the rows: compared when a run continues. */
  readonly decides: Readonly<Record<string, string | boolean>>;
}

export async function findListEnds(
  inputs: readonly Location[],
  output: Location,
  input: CommandInput<VerifyOption>,
): Promise<ListEnds> {
  const { options } = input;
  checkRules(options, verifyOptions, {
    'input is a database': inputs.some(isDatabase),
    'output is a database': isDatabase(output),
  });
  const sink = await findSinkOf(inputs, output, input);
  for (const file of filesOfOutput(inputs, output, options)) await refuseSameFile(inputs, file);
  const source = await findSource(inputs, output, input);
  return {
    source,
    sink,
    decides: { header: !options.has('no-header'), ...options.decisions(verifyOptions, 'rows') },
  };
}

async function findSinkOf(
  inputs: readonly Location[],
  output: Location,
  input: CommandInput<VerifyOption>,
): Promise<Sink> {
  const { options } = input;
  if (options.has('split-by')) return verdictOutput(inputs, output, options);
  return isDatabase(output) ? databaseSink(output, options) : findOutput(output, input);
}

/** @param output where the rows go: some forms need all columns beforehand. @default anywhere */
export async function findSource(
  inputs: readonly Location[],
  output: Location | undefined,
  input: CommandInput<VerifyOption>,
): Promise<Source> {
  const { options, stdin } = input;
  const [only] = inputs;
  if (!only) throw new ConfigurationError('name the input', { fault: 'missing' });
  if (isDatabase(only)) return databaseSource(only, input);
  const form = fileOptions(options, output && !isDatabase(output) ? listAt(output) : '');
  if (inputs.length === 1) return findOne(only, form, stdin);
  // The common header has each file's columns, wherever they first appear.
  const all = { ...form, columns: 'all' as const };
  return combinedSource(inputs.map((each) => findOne(each, all, stdin)));
}

function findOne(location: Location, form: FileOptions, stdin: Surroundings['stdin']): Source {
  return location.path === standard
    ? streamSource('standard input', stdin, form)
    : listSource(listAt(location), form);
}

async function refuseSameFile(inputs: readonly Location[], output: Location): Promise<void> {
  const to = output.path;
  for (const input of inputs) {
    if (!(await isSamePlace(input, output))) continue;
    throw new ConfigurationError(
      inputs.length === 1
        ? `the output ${to} is the input: give the output another name with -o`
        : `the output ${to} is one of the inputs: give the output another name or another folder with -o`,
      { option: 'sink', fault: 'exists' },
    );
  }
}

function fileOptions(options: ParsedOptions<VerifyOption>, outputPath: string): FileOptions {
  const { 'input-format': input, 'output-format': output } = options.values(verifyOptions);
  return {
    columns: columnsFor(outputPath, output),
    ...options.libraryValues(formOptions),
    ...omitUndefined({ format: input }),
  };
}

async function databaseSource(
  { kind, url }: DatabaseLocation,
  { options, positionals }: CommandInput<'query' | (typeof columnOptions)[number]>,
): Promise<Source> {
  const query = options.text('query');
  if (query !== undefined && query.trim() !== '') {
    const { source } = await endsOf(kind);
    return source({ url, query });
  }
  const tables = await tablesOf({ kind, url });
  const database = showLocation(positionals[0] ?? '');
  const [table] = tables;
  if (!table) {
    throw new ConfigurationError(
      `${database} has no tables: name its rows with --query <sql>; nothing was sent`,
      {
        option: '--query',
        fault: 'missing',
      },
    );
  }
  const named = columnOptions.flatMap((name) => options.texts(name));
  const columns = [...table.key, ...named.filter((name) => !name.startsWith('#'))];
  const all = columns.length > 0 ? columns : table.columns;
  const given = `${selectNamed(all, table)} from ${tableIn(table)}`;
  const others = tables.length === 1 ? '' : `; its tables: ${namesOf(tables)}`;
  throw new ConfigurationError(
    `a database needs --query <sql>: add --query ${shellQuote(given)}${others}; nothing was sent`,
    { option: '--query', fault: 'missing' },
  );
}

async function databaseSink(
  { kind, url }: DatabaseLocation,
  options: ParsedOptions<'into' | 'key'>,
): Promise<Sink> {
  const into = tableOption(options);
  const key = options.texts('key');
  const { sink } = await endsOf(kind);
  return sink({ url, into, ...(key.length > 0 && { key }) });
}

function tableOption(options: ParsedOptions<'into'>): string {
  const into = options.text('into');
  if (into !== undefined && into !== '') return into;
  throw new ConfigurationError('name the table that the rows go into: --into <table>', {
    option: '--into',
    fault: 'missing',
  });
}

export function stateDirectoryOf(
  location: Location,
  { options, cwd }: CommandInput<'state' | 'into'>,
): string | undefined {
  const given = options.text('state');
  if (given !== undefined) return given;
  const isInDatabase = isDatabase(location);
  if (location.path === standard || (isInDatabase && !options.has('into'))) return undefined;
  const found = defaultStateDir(listAt(location), isInDatabase ? tableOption(options) : undefined);
  return resolvePath(cwd, found);
}

/** A direct output has no state directory unless `--state` names one. */
export async function isHeldBack(
  { kind }: Location,
  sink: Sink,
  options: ParsedOptions<'part-size'>,
): Promise<boolean> {
  if (kind !== 'file' || options.has('part-size')) return true;
  return (await sink.mayBeginEarly?.()) === true;
}

/**
 * Refuses a query for all columns of the table that the results go into: the run adds columns to it, and the
 * next run would read those as the list's own.
 */
export function refuseAllColumns(
  inputs: readonly Location[],
  output: Location,
  options: ParsedOptions<'query' | 'into' | (typeof columnOptions)[number]>,
): void {
  const [query = '', into = ''] = [options.text('query'), options.text('into')];
  const isInPlace =
    isDatabase(output) && inputs.some((each) => isDatabase(each) && each.url === output.url);
  if (!isInPlace || !readsAllOf(query, into)) return;
  throw new ConfigurationError(
    `the query reads all columns of ${into}, to which the run adds its own, and the next run would read those, too: name the columns in --query instead of *${suggestedQuery(query, output, options)}`,
    { option: '--query' },
  );
}

/** Options that name the columns which a run in place needs: it leaves all others as they are. */
const columnOptions = ['key', 'email', 'phone', 'country-column', 'country-from'] as const;

function suggestedQuery(
  query: string,
  { kind }: DatabaseLocation,
  options: ParsedOptions<(typeof columnOptions)[number]>,
): string {
  const columns = [...new Set(columnOptions.flatMap((name) => options.texts(name)))];
  // The query of a position stays unknown.
  if (columns.length === 0 || columns.some((column) => column.startsWith('#'))) return '';
  const [all] = /^\s*select\s+\*\s/i.exec(query) ?? [];
  if (all === undefined) return '';
  const named = `${selectNamed(columns, { kind })}${query.slice(all.length - 1)}`;
  return `, such as --query ${shellQuote(named)}`;
}

/** Whether a query names a table, and selects `*`, not only in a part in parentheses. */
function readsAllOf(query: string, table: string): boolean {
  const words = wordsOf(query);
  let depth = 0;
  let isAll = false;
  for (const [at, word] of words.entries()) {
    if (word === '(') depth += 1;
    else if (word === ')') depth -= 1;
    else if (depth === 0 && isStar(word, words[at - 1])) isAll = true;
  }
  return isAll && words.some((word, at) => isTable(word, table, words[at - 1]));
}

const sqlName = '(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_$]*)';
const tableNamed = new RegExp(
  `(?<!\\S)from\\s+(?:(${sqlName})\\.)?(${sqlName})(?![\\p{L}\\p{N}_$"\`]|\\s*\\.)`,
  'iu',
);

/** The table that a query takes all its rows from. @returns `undefined` for one that joins, groups or is not known */
export function tableOfQuery(
  query: string,
  tables: readonly DatabaseTable[],
): DatabaseTable | undefined {
  const words = wordsOf(query);
  const [from, ...more] = words.flatMap((word, at) => (word === 'from' ? [at] : []));
  const others = ['(', 'join', 'union', 'group', 'distinct', 'with'];
  if (from === undefined || more.length > 0 || words.some((word) => others.includes(word)))
    return undefined;
  if (words.slice(from).includes(',')) return undefined;
  const [, schema, name] = tableNamed.exec(query) ?? [];
  if (name === undefined) return undefined;
  const named = tables.filter((each) => isNamed(each.table, name, each));
  const isDefault = (each: DatabaseTable): boolean =>
    each.schema === '' &&
    (schema === undefined || isNamed(defaultSchemas[each.kind] ?? '', schema, each));
  return (
    named.find((each) => schema !== undefined && isNamed(each.schema, schema, each)) ??
    named.find(isDefault)
  );
}

/** How the current schema may be named. */
const defaultSchemas: Readonly<Partial<Record<DatabaseKind, string>>> = {
  postgres: 'public',
  sqlite: 'main',
};

/** Whether a name in a query is that of a table or a schema. */
function isNamed(known: string, name: string, { kind }: Pick<DatabaseTable, 'kind'>): boolean {
  const quote = /^["`]/.exec(name)?.[0];
  const bare = quote ? name.slice(1, -1).replaceAll(quote + quote, quote) : name;
  if (kind === 'sqlite' || kind === 'duckdb') return bare.toLowerCase() === known.toLowerCase();
  return known === (kind === 'postgres' && !quote ? bare.toLowerCase() : bare);
}

/** Words without their quotes; parentheses and commas are words. */
function wordsOf(query: string): readonly string[] {
  const plain = query.toLowerCase().replaceAll(/["`]/g, '');
  return plain.match(/[^\s,;()]+|[,()]/g) ?? [];
}

/** Not a product, as in `price * 2`. */
function isStar(word: string, before = ''): boolean {
  return (
    word.endsWith('.*') || (word === '*' && ['select', 'distinct', 'all', ','].includes(before))
  );
}

function isTable(word: string, table: string, before = ''): boolean {
  return ['from', 'join', ','].includes(before) && lastPart(word) === lastPart(wordsOf(table)[0]);
}

function lastPart(name = ''): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
