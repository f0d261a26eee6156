import { existsSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve, join, parse, sep } from 'node:path';
import { InputError } from '../../index.js';
import { editDistance } from '../../platform/text/closest-name.js';
import { shellQuote } from '../../platform/text/printable.js';
import type { OptionDefinition, CommandInput } from '../command.js';

/**
 * What the command line names, as the file system finds it: from the folder of the command line. Where that
 * is the folder of the process, it is as it was written, which is how messages show it.
 */
export function resolvePath(cwd: string, name: string): string {
  const [, scheme = '', path = ''] = /^((?:sqlite|duckdb):)?(.*)$/is.exec(name) ?? [];
  const isElsewhere =
    cwd === '.' ||
    name === '' ||
    name === standard ||
    path === ':memory:' ||
    /^(?:env:|[a-z][a-z0-9+.-]+:\/\/)/i.test(name);
  if (isElsewhere || resolve(cwd, path) === resolve(path)) return name;
  return `${scheme}${cwd}/${path}`;
}

/** What was resolved, as it was written. */
export function asWritten(cwd: string, name: string): string {
  return cwd !== '.' && name.startsWith(`${cwd}/`) ? name.slice(cwd.length + 1) : name;
}

/** What stands for standard input and standard output. */
export const standard = '-';

/** The value of an option, found from the folder of the command line where it is a path. */
export function placed(
  value: string | true,
  definition: OptionDefinition,
  cwd: string,
): string | true {
  return value !== true && definition.type?.isPath === true ? resolvePath(cwd, value) : value;
}

/** Whether something is there. */
export async function isTaken(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

export async function refuseMisspelt(path: string): Promise<void> {
  if (/[*?[\]{}]/.test(path) || (await isTaken(path))) return;
  const near = nearPath(path);
  if (near === undefined) return;
  throw new InputError(
    `cannot read ${path}: there is no such file or folder; did you mean ${near}?`,
    { code: 'input_unreadable' },
  );
}

/** Names that differ in more characters are not meant. */
const furthest = 2;

/**
 * The path that was probably meant by one that is not there: each name that its folder has not got is
 * taken for the nearest that it has.
 *
 * @returns `undefined` when nothing is near
 */
export function nearPath(path: string): string | undefined {
  let found = parse(path).root;
  for (const name of path.split(sep)) {
    if (name === '') continue;
    const next = existsSync(join(found, name)) ? name : nearName(found || '.', name);
    if (next === undefined) return undefined;
    found = join(found, next);
  }
  return found;
}

function nearName(folder: string, wanted: string): string | undefined {
  const names = namesIn(folder)
    .map((name) => ({ name, distance: editDistance(name.toLowerCase(), wanted.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.min(furthest, name.length - 1))
    .toSorted((one, other) => one.distance - other.distance);
  return names[0]?.name;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A name has fewer words. */
const mostWords = 12;

/**
 * Refuses what is no input but a piece of a name or value with spaces that was not quoted:
 * `my list.csv`, `--email eMail privat`.
 */
export async function refuseUnquoted({
  valuesWithMore = [],
  positionals,
  cwd,
}: Pick<CommandInput, 'valuesWithMore' | 'positionals' | 'cwd'>): Promise<void> {
  const exists = async (word: string): Promise<boolean> => isTaken(resolvePath(cwd, word));
  await refuseUnquotedName(positionals.slice(0, mostWords), exists);
  for (const { option, words } of valuesWithMore) {
    const [value = '', ...more] = words;
    const rest: string[] = [];
    for (const word of more) {
      // Patterns and URLs are no words of a name.
      if (/[*?:/\\]/.test(word) || word === '-' || (await exists(word))) break;
      rest.push(word);
    }
    if (rest.length === 0) continue;
    const whole = shellQuote([value, ...rest].join(' '));
    throw new InputError(
      `cannot read ${rest[0] ?? ''}: there is no such file; if it belongs to the value of ${option}, quote the whole: ${option} ${whole}`,
      { code: 'input_unreadable' },
    );
  }
}

async function refuseUnquotedName(
  words: readonly string[],
  exists: (word: string) => Promise<boolean>,
): Promise<void> {
  for (const [first, word] of words.entries()) {
    if (await exists(word)) continue;
    for (let end = first + 2; end <= words.length; end += 1) {
      const whole = words.slice(first, end).join(' ');
      if (!(await exists(whole))) continue;
      throw new InputError(
        `cannot read ${word}: there is no such file; a name with spaces needs quotes: ${shellQuote(whole)}`,
        { code: 'input_unreadable' },
      );
    }
  }
}
