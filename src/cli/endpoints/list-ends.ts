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
import { showLocation } from '../../lists/location.js';
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
import { endsOf, namesOf, selectNamed, tableIn, tablesOf } from './database-tables.js';
import { findOutput, verdictOutput } from './output.js';
import { readsAllOf, withNames } from './query.js';

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
  const sink = options.has('split-by')
    ? verdictOutput(inputs, output, options)
    : isDatabase(output)
      ? await databaseSink(output, options)
      : findOutput(output, input);
  const source = await findSource(inputs, output, input);
  return {
    source,
    sink,
    decides: { header: !options.has('no-header'), ...options.decisions(verifyOptions, 'rows') },
  };
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
  const { 'input-format': format, 'output-format': outputFormat } = options.values(verifyOptions);
  const outputPath = output && !isDatabase(output) ? listAt(output) : '';
  const form: FileOptions = {
    columns: columnsFor(outputPath, outputFormat),
    ...options.libraryValues(formOptions),
    ...omitUndefined({ format }),
  };
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
  const columns = columnOptions.flatMap((name) => options.texts(name));
  const named = columns.length === 0 ? undefined : withNames(query, columns, output);
  const such = named === undefined ? '' : `, such as --query ${shellQuote(named)}`;
  throw new ConfigurationError(
    `the query reads all columns of ${into}, to which the run adds its own, and the next run would read those, too: name the columns in --query instead of *${such}`,
    { option: '--query' },
  );
}

/** Options that name the columns which a run in place needs: it leaves all others as they are. */
const columnOptions = ['key', 'email', 'phone', 'country-column', 'country-from'] as const;
