import {
  type DatabaseTable,
  hasAddresses,
  tableIn,
  tablesOf,
} from '../endpoints/database-tables.js';
import { isDatabase, listAt, type Location, locationOf } from '../endpoints/locations.js';
import { readsPlainly, tableOfQuery, withNames } from '../endpoints/query.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import { message, type Message } from '../messages/catalogue.js';
import type { VerifyOption } from '../options/verify-options.js';
import type { AddedOption } from './choose-country.js';

interface FoundTable {
  /** The table that the rows come from. @default not known, or no database is read */
  readonly table?: DatabaseTable;
  /** Whether it was chosen, and others have addresses, too. @default false */
  readonly isOneOfSeveral?: boolean;
  /** The query, where none is given. */
  readonly added: readonly AddedOption[];
  readonly messages: readonly Message[];
}

/** The table that the query of a database reads; without a query the first one with columns named as addresses are. */
export async function findTable(
  inputs: readonly Location[],
  { options }: CommandInput<VerifyOption>,
): Promise<FoundTable> {
  const none = { added: [], messages: [] };
  const database = inputs.find(isDatabase);
  if (!database) return none;
  const query = options.text('query');
  if (query !== undefined && query.trim() !== '') {
    const tables = await tablesOf(database).catch(() => []);
    const table = tableOfQuery(query, tables);
    return table ? { ...none, table } : none;
  }
  const tables = await tablesOf(database);
  const into = options.text('into');
  const table = tables.find(({ name }) => name === into) ?? tables.find(hasAddresses);
  if (!table) return none;
  const queryOf = (each: DatabaseTable): string => `select * from ${tableIn(each)}`;
  // Those with addresses come first.
  const others = tables.filter((each) => each !== table);
  const [next] = others;
  const found = {
    table: table.name,
    others: others.map(({ name }) => name),
    query: next ? queryOf(next) : null,
  };
  return {
    table,
    isOneOfSeveral: next !== undefined && hasAddresses(next),
    added: [['query', queryOf(table)]],
    messages: [message('found_table', found)],
  };
}

/** In place no row becomes several. */
const dropped: ReadonlySet<string> = new Set(['output', 'query', 'split-cells']);

/**
 * What a command adds that verifies a table in place: a query for what a run needs, and where the results go.
 *
 * @returns `undefined` for a table without a primary key, or one that cannot be read and written at once
 */
export function inPlace(
  table: DatabaseTable | undefined,
  { positionals, env, cwd, options }: CommandInput<VerifyOption>,
  added: readonly AddedOption[],
): readonly AddedOption[] | undefined {
  const [database = ''] = positionals;
  const output = options.text('output');
  const isThere =
    output === undefined ||
    listAt(locationOf(output, { env, cwd })) === listAt(locationOf(database, { env, cwd }));
  // A DuckDB file is not read and written at once.
  if (
    !table ||
    leavesRowsOut(options) ||
    table.key.length === 0 ||
    table.kind === 'duckdb' ||
    !isThere
  )
    return undefined;
  const into = options.text('into');
  if (into !== undefined && into !== table.name) return undefined;
  const key = options.has('key') ? options.texts('key') : table.key;
  const kept = added.filter(
    ([name, value]) => !dropped.has(name) && !(name === 'prefix' && hasResults(table, value)),
  );
  const columns = [...options.given(), ...kept.map(([name, value]) => [name, [value]] as const)]
    .filter(([name]) => ['email', 'phone', 'country-column', 'country-from'].includes(name))
    .flatMap(([, values]) => values.map(String));
  const given = options.text('query') ?? '';
  // The condition of a query stays.
  const query = withNames(given, [...key, ...columns], table);
  if (query === undefined && !readsPlainly(given, table, key)) return undefined;
  return [
    ...(query === undefined ? [] : [['query', query] as const]),
    ...kept,
    ['output', database],
    ...(into === undefined ? [['into', table.name] as const] : []),
    ...(options.has('key') ? [] : key.map((column) => ['key', column] as const)),
  ];
}

/** A table in place is not written then: a row that is left out would keep an earlier verdict. */
export function leavesRowsOut(options: ParsedOptions<VerifyOption>): boolean {
  return (['keep', 'keep-quality', 'unique'] as const).some((name) => options.has(name));
}

/** Whether an earlier run has written results of the column, which are written again: columns of others stay. */
function hasResults({ columns }: DatabaseTable, prefix: string | true): boolean {
  const column = String(prefix).slice(0, String(prefix).lastIndexOf('='));
  return columns.includes(`${column}_verification`);
}
