import { existsSync, readdirSync, type Stats, statSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { ConfigurationError, findLists, InputError } from '../../index.js';
import {
  type DatabaseKind,
  type ListLocation,
  parseLocation,
  showLocation,
} from '../../lists/location.js';
import { editDistance } from '../../platform/text/closest-name.js';
import { shellQuote } from '../../platform/text/printable.js';
import { type Called, type CommandInput, programName, type Environment } from '../command.js';

/** One end of a list, with its path as the command line gave it, resolved from its folder for a file. */
export type Location = ListLocation & { readonly path: string };

export type DatabaseLocation = Location & { readonly kind: DatabaseKind };

export function isDatabase(location: Location): location is DatabaseLocation {
  return !['file', 'web', 's3'].includes(location.kind);
}

export function locationOf(path: string, { env, cwd }: Environment): Location {
  const name = resolveArgument(path, env);
  const place = parseLocation(resolvePath(cwd, name));
  if (place.kind !== 'file') return { ...place, path };
  if (name === path) return place;
  // The variable's value is not repeated: it may be a password.
  throw new ConfigurationError(`what ${path} holds is not the URL of a list or of a database`, {
    fault: 'unsupported',
  });
}

/** Resolves `env:NAME` to the value of that environment variable. */
function resolveArgument(argument: string, env: NodeJS.ProcessEnv): string {
  const variable = /^env:(.+)$/s.exec(argument)?.[1];
  if (variable === undefined) return argument;
  const value = env[variable];
  if (value !== undefined && value !== '') return value;
  throw new ConfigurationError(
    `the environment has no variable ${variable}, which ${argument} names`,
    { fault: 'missing' },
  );
}

export function besideLocation(location: Location, ending: string): Location {
  const path = `${location.path}${ending}`;
  return location.kind === 'file'
    ? { kind: 'file', path }
    : { ...location, path, url: `${location.url}${ending}` };
}

export async function removeAt(location: Location): Promise<void> {
  if (location.kind === 'file') return rm(location.path, { force: true });
  const { removeS3Object } = await import('../../lists/remote/s3/index.js');
  await removeS3Object(location.url);
}

export function pathOf({ kind, path }: Location): string | undefined {
  return kind === 'file' ? path : undefined;
}

/** @returns `undefined` for a server */
export function databaseFile(location: Location): string | undefined {
  if (location.kind !== 'sqlite' && location.kind !== 'duckdb') return undefined;
  return location.url.replace(/^[a-z]+:(?:\/\/)?/i, '');
}

export function listAt(location: Location): string {
  return location.kind === 'file' ? location.path : location.url;
}

/** The inputs of one list, in order: folders and patterns are expanded to their files. */
export async function findInputs(
  positionals: readonly string[],
  called: Called,
): Promise<readonly Location[]> {
  if (positionals.length === 0) {
    throw new ConfigurationError(
      `name the list, as in ${programName(called)} verify list.csv: a file, several, a folder, an https:// address, the URL of a database, or - for standard input (${programName(called)} verify --help shows how)`,
      { fault: 'missing' },
    );
  }
  const locations = positionals.map((path) => locationOf(path, called));
  const alone = locations.find((each) => isDatabase(each) || each.path === standard);
  if (alone && locations.length > 1) {
    throw new ConfigurationError(
      `${isDatabase(alone) ? 'a database' : 'standard input'} is an input of its own, but ${locations.length} inputs are named: ${positionals.map(showLocation).join(', ')}`,
      { fault: 'unsupported' },
    );
  }
  if (alone) return [alone];
  for (const { kind, path } of locations) if (kind === 'file') await refuseMisspelt(path);
  const lists = await findLists(locations.map(listAt));
  return lists.map((list) => {
    const place = parseLocation(list);
    return place.kind === 'file' ? place : locationOf(list, called);
  });
}

/**
 * Resolves a path from the folder of the command line. Where that is the folder of the process, the path
 * stays as written, which is how messages show it.
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

export function asWritten(cwd: string, name: string): string {
  return cwd !== '.' && name.startsWith(`${cwd}/`) ? name.slice(cwd.length + 1) : name;
}

/** Whether it is a URL with a user or parameters in it, or a query with one: it is neither printed nor kept. */
export function mayHoldPassword(argument: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\/.*[@?]/is.test(argument)) return true;
  return argument.split(/[\s'"]/).some((word) => /[@?]/.test(word.split('://')[1] ?? ''));
}

export const standard = '-';

export async function isTaken(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function refuseMisspelt(path: string): Promise<void> {
  if (/[*?[\]{}]/.test(path) || (await isTaken(path))) return;
  const near = nearPath(path);
  if (near === undefined) return;
  throw new InputError(`cannot read ${path}: file or folder not found; did you mean ${near}?`, {
    code: 'input_unreadable',
  });
}

const furthest = 2;

/**
 * The path probably meant by a missing one: each missing name is replaced by the closest one in its folder.
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

/** The history in the folder of another that its name probably means. */
export function nearHistory(path: string): string | undefined {
  const folder = dirname(path);
  const name = nearName(folder, basename(path), (history) => `${history}.key`);
  return name === undefined ? undefined : join(folder, name);
}

export const listEnding = /\.[a-z]+(?:\.gz)?$/i;

/** Size of a history's key: 64 digits and the end of their line. */
const historyKeyBytes = 65;

/** The histories in a folder, each with its key beside it. */
export function historiesIn(
  folder: string,
): readonly { readonly path: string; readonly changedMs: number }[] {
  const fileAt = (name: string): Stats | undefined => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return found?.isFile() === true ? found : undefined;
  };
  const all = new Set(namesIn(folder));
  return [...all].flatMap((name) => {
    const isKept = all.has(`${name}.key`) && fileAt(`${name}.key`)?.size === historyKeyBytes;
    const file = isKept ? fileAt(name) : undefined;
    return file ? [{ path: join(folder, name), changedMs: file.mtimeMs }] : [];
  });
}

/** @param companion the name of a file that must be beside the one that is meant. @default none must */
function nearName(
  folder: string,
  wanted: string,
  companion = (name: string): string => name,
): string | undefined {
  const all = new Set(namesIn(folder));
  const names = [...all]
    .filter((name) => all.has(companion(name)))
    // A dangling link is in its folder, but does not exist.
    .filter((name) => name !== wanted)
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

/** Longer texts are not file names. */
const mostWords = 12;

/** Refuses an input that is a piece of an unquoted name or value with spaces: `my list.csv`, `--email eMail privat`. */
export async function refuseUnquoted({
  valuesWithMore = [],
  positionals,
  options,
  cwd,
}: CommandInput<'email' | 'phone'>): Promise<void> {
  const exists = async (word: string): Promise<boolean> => isTaken(resolvePath(cwd, word));
  await refuseUnquotedName(positionals.slice(0, mostWords), exists);
  for (const { option, words, isBare } of valuesWithMore) {
    if (isBare) {
      const columns = [...options.texts('email'), ...options.texts('phone')];
      await refuseColumn(option, words[0], columns, exists);
      continue;
    }
    const [value = '', ...more] = words;
    const rest: string[] = [];
    for (const word of more) {
      // Patterns and URLs are not part of a name.
      if (/[*?:/\\]/.test(word) || word === '-' || (await exists(word))) break;
      rest.push(word);
    }
    if (rest.length === 0) continue;
    const whole = shellQuote([value, ...rest].join(' '));
    throw new InputError(
      `cannot read ${rest[0] ?? ''}: file not found; if it belongs to the value of ${option}, quote the whole: ${option} ${whole}`,
      { code: 'input_unreadable' },
    );
  }
}

/** The argument after an option without a value was taken for an input, and is neither that nor a verified column. */
async function refuseColumn(
  option: string,
  word: string | undefined,
  columns: readonly string[],
  exists: (word: string) => Promise<boolean>,
): Promise<void> {
  if (word === undefined || /[.*?:/\\]|^-$/.test(word) || (await exists(word))) return;
  const names = columns.map((column) => JSON.stringify(column)).join(', ');
  throw new InputError(
    `cannot read ${word}: file not found; if it is the column of ${option}, give it one that is verified${names === '' ? ' (--email, --phone)' : `: ${names}`}`,
    { code: 'input_unreadable' },
  );
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
        `cannot read ${word}: file not found; a name with spaces needs quotes: ${shellQuote(whole)}`,
        { code: 'input_unreadable' },
      );
    }
  }
}

/** The paths of files; none of standard input and output. */
export function filesAmong(paths: readonly (string | undefined)[]): readonly string[] {
  return paths.filter((path): path is string => path !== undefined && path !== standard);
}
