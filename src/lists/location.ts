import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigurationError } from '../platform/errors/errors.js';
import { checkValue } from '../platform/check-options.js';
import { url } from '../platform/option-kinds.js';
import { isSameFile } from './files/outputs/output-path.js';

/** The location of a list: its kind decides how it is read and written. */
export type ListLocation =
  | { readonly kind: 'file'; readonly path: string }
  | {
      readonly kind: 'web' | 's3' | DatabaseKind;
      /** May contain a password or a signature: never printed. */
      readonly url: string;
    };

export type DatabaseKind = 'postgres' | 'mysql' | 'sqlite' | 'duckdb';

const databases = new Map<string, DatabaseKind>([
  ['postgres', 'postgres'],
  ['postgresql', 'postgres'],
  ['mysql', 'mysql'],
  ['mariadb', 'mysql'],
  ['sqlite', 'sqlite'],
  ['duckdb', 'duckdb'],
]);

/** These schemes name a database without `//`, followed by a path. The others need a host. */
const pathKinds: readonly string[] = ['sqlite', 'duckdb'];

const webSchemes: ReadonlySet<string> = new Set(['http', 'https', 's3']);

/** A URL as text: a URL object encodes what is special in the path of a file or the key of an object, which is decoded. */
export function textOfUrl(url: string | URL): string {
  if (typeof url === 'string') return url;
  const { protocol, href } = url;
  if (protocol === 'file:') return pathOfFileUrl(href);
  try {
    return ['sqlite:', 'duckdb:', 's3:'].includes(protocol) ? decodeURIComponent(href) : href;
  } catch (cause) {
    throw new ConfigurationError(`the path in the ${protocol} URL is not encoded rightly`, {
      fault: 'encoding',
      cause,
    });
  }
}

const aLocation = { ...url, what: 'a path or a URL' };

/**
 * What kind of place a name means: a path, or a URL (`file:`, `https:`, `s3:`, or that of a database).
 *
 * @throws ConfigurationError `invalid_option` for a URL of anything else
 */
export function parseLocation(name: string | URL): ListLocation {
  checkValue('list', name, aLocation);
  const text = textOfUrl(name);
  const [, scheme = '', hasHost] = /^([a-z][a-z0-9+.-]+):(\/\/)?/i.exec(text) ?? [];
  const word = scheme.toLowerCase();
  const database = databases.get(word);
  if (database !== undefined && (hasHost !== undefined || pathKinds.includes(database))) {
    return { kind: database, url: text };
  }
  const isUrlScheme = database !== undefined || webSchemes.has(word);
  if (isUrlScheme && hasHost === undefined && text.startsWith('/', scheme.length + 1)) {
    // The rest is not printed: it may hold a password or a signature.
    const message = `a URL of this kind begins with ${scheme}://, and this one has one slash`;
    throw new ConfigurationError(message, { fault: 'unsupported' });
  }
  const isPath = typeof name === 'string' || name.protocol === 'file:';
  if (hasHost === undefined && isPath) return { kind: 'file', path: text };
  if (word === 'file') return { kind: 'file', path: pathOfFileUrl(text) };
  if (word === 's3') return { kind: 's3', url: text };
  if (word === 'https' || word === 'http') return { kind: 'web', url: text };
  // The rest is not printed: a password may follow a misspelt scheme.
  throw new ConfigurationError(
    `a URL that begins with ${scheme}: names no list: give a path, or a URL that begins with https:, s3:, postgres:, mysql:, sqlite: or duckdb:`,
    { fault: 'unsupported' },
  );
}

function pathOfFileUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new ConfigurationError('a file: URL must hold an absolute path, and no host', {
      fault: 'unsupported',
      cause,
    });
  }
}

/** The path of a file, or the URL of anything else. */
export function locationName(place: ListLocation): string {
  return place.kind === 'file' ? place.path : place.url;
}

/** A name as it may be printed: a database's host and name, a URL's host. The rest may hold a password. */
export function showLocation(name: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*:)\/\//i.exec(name)?.[1];
  if (scheme === undefined) return hideUrls(name);
  const {
    host = '',
    username = '',
    pathname = '',
    search = '',
  } = URL.canParse(name) ? new URL(name) : {};
  // An @ or a slash of a password that is not encoded ends the host too early.
  const isClear = name.split('@').length === (username === '' ? 1 : 2);
  if (host === '' || !isClear) return `${scheme}//…`;
  const account = username === '' ? '' : '…@';
  const rest = namesDatabase(name) ? `${pathname}${search === '' ? '' : '?…'}` : '/…';
  return `${scheme}//${account}${host}${rest}`;
}

/** Text other than a URL, such as a query: of each URL in it, no more than its scheme. */
function hideUrls(text: string): string {
  return text
    .split(/([\s'"])/)
    .map((word) => (word.includes('://') ? `${word.slice(0, word.indexOf('://'))}://…` : word))
    .join('');
}

export function namesDatabase(name: string): boolean {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(name)?.[1];
  return scheme !== undefined && databases.has(scheme.toLowerCase());
}

/** Whether two names mean the same list: one file, by whatever links, or one URL. */
export async function isSameList(one: string | URL, other: string | URL): Promise<boolean> {
  const [first, second] = [parseLocation(one), parseLocation(other)];
  if (first.kind === 'file' && second.kind === 'file') return isSameFile(first.path, second.path);
  return locationName(first) === locationName(second);
}

/**
 * What a run has written down of its input or output, for comparison: paths, one a line, with their links
 * followed as far as there are files. URLs stay.
 *
 * @param folder that of relative paths. @default the current one
 */
export function comparableNames(names: string, folder = '.'): string {
  const lines = names.split('\n');
  return lines
    .map((name) => (name.includes('://') ? name : realPath(resolve(folder, name))))
    .join('\n');
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}

/** Refuses a list that is named twice: its rows would come out twice. */
export async function refuseRepeated(lists: readonly string[]): Promise<void> {
  const seen = new Map<string, string>();
  for (const list of lists) {
    const isFile = parseLocation(list).kind === 'file';
    const real = isFile ? await realpath(list).catch(() => list) : list;
    const before = seen.get(real);
    if (before !== undefined) {
      throw new ConfigurationError(
        before === list
          ? `${showLocation(list)} is named twice: name each input once`
          : `${before} and ${list} are the same file: name each input once`,
        { file: isFile ? list : undefined, fault: 'repeated' },
      );
    }
    seen.set(real, list);
  }
}

/**
 * The default state directory of an output: beside a file or a folder of parts; else in the current folder,
 * named after the object or the table.
 *
 * @example
 * ```ts
 * console.log(defaultStateDir('out/verified.csv')); // out/verified.csv.sluice
 * ```
 */
export function defaultStateDir(output: string | URL, table?: string): string {
  const place = parseLocation(output);
  if (place.kind === 'file') return `${withoutEndSlashes(place.path)}.sluice`;
  const name = table ?? place.url.split('/').findLast((part) => part !== '') ?? 'list';
  return `${name.replaceAll(/[^\p{L}\p{N}_.-]/gu, '_')}.sluice`;
}

function withoutEndSlashes(path: string): string {
  let folder = path;
  while (folder.endsWith('/') || folder.endsWith('\\')) folder = folder.slice(0, -1);
  return folder;
}
