import type { DatabaseKind } from '../../lists/location.js';
import { type DatabaseTable, selectNamed } from './database-tables.js';

/* What is read of a query. A database has the last word: where this is wrong, a proposal is missed. */

/** Whether a query names a table, and selects `*`, not only in a part in parentheses. */
export function readsAllOf(query: string, table: string): boolean {
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
function isNamed(known: string, name: string, { kind }: DatabaseTable): boolean {
  const isAnyCase = kind === 'sqlite' || kind === 'duckdb';
  return isSame(known, readName(name, kind), isAnyCase);
}

/** A name without its quotes. PostgreSQL folds one that has none. */
function readName(name: string, kind: DatabaseKind): string {
  const quote = /^["`]/.exec(name)?.[0];
  if (quote) return name.slice(1, -1).replaceAll(quote + quote, quote);
  return kind === 'postgres' ? name.toLowerCase() : name;
}

function isSame(one: string, other: string, isAnyCase: boolean): boolean {
  return one === other || (isAnyCase && one.toLowerCase() === other.toLowerCase());
}

/** Whether a query names columns of a table, its key among them: what is computed may be another row's key. */
export function readsPlainly(
  query: string,
  { kind, columns }: DatabaseTable,
  key: readonly string[],
): boolean {
  const [list = ''] = query.replace(/^\s*select\s/i, '').split(/\sfrom\s/i);
  const names = list.split(',').map((item) => readName(item.trim(), kind));
  // In PostgreSQL "Id" and id are two columns.
  const isIn = (column: string, among: readonly string[]): boolean =>
    among.some((each) => isSame(each, column, kind !== 'postgres'));
  return names.every((name) => isIn(name, columns)) && key.every((column) => isIn(column, names));
}

/**
 * A query with names of columns in place of its `*`: a run in place adds its own columns, which `*` would read
 * the next night.
 *
 * @returns `undefined` for one that begins otherwise, or with positions, which are other columns then
 */
export function withNames(
  query: string,
  columns: readonly string[],
  table: { readonly kind: DatabaseKind },
): string | undefined {
  const [star] = /^\s*select\s+\*\s/i.exec(query) ?? [];
  if (star === undefined || columns.some((column) => column.startsWith('#'))) return undefined;
  return selectNamed(columns, table) + query.slice(star.length - 1);
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
