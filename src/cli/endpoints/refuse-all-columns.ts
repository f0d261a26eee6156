import { ConfigurationError } from '../../index.js';
import type { ParsedOptions } from '../command.js';
import type { NamedPlace } from './list-places.js';

/**
 * Refuses a query for all columns of the table that the results go into: the run adds columns to it, and the
 * next one would read those as the list's own.
 *
 * @throws ConfigurationError
 */
export function refuseAllColumns(
  inputs: readonly NamedPlace[],
  { database: to }: NamedPlace,
  options: ParsedOptions<'query' | 'into'>,
): void {
  const [query = '', into = ''] = [options.text('query'), options.text('into')];
  const isInPlace = to !== undefined && inputs.some(({ database }) => database?.url === to.url);
  if (!isInPlace || !readsAllOf(query, into)) return;
  throw new ConfigurationError(
    `the query reads all columns of ${into}, to which the run adds its own, and the next run would read those, too: name the columns in --query instead of *`,
  );
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

/** Without their quotes, parentheses and commas apart. */
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
