import { realpath, rm } from 'node:fs/promises';
import { ConfigurationError, findFiles } from '../index.js';
import {
  findDatabaseUrl,
  resolveArgument,
  showArgument,
  type DatabaseUrl,
} from './database-url.js';
import { standard } from './standard.js';

/** One end of a list, as it is named on the command line. */
export interface ListPlace {
  readonly path: string;
  /** The database that it is in; `undefined` for files and standard streams. */
  readonly database: DatabaseUrl | undefined;
  /** The URL of a list on a server. */
  readonly remote?: RemoteUrl;
}

/** A list on a web server or in a bucket. */
export interface RemoteUrl {
  readonly kind: 'web' | 's3';
  /** May hold a password, or a signature: it is never printed. */
  readonly url: string;
}

/** @throws ConfigurationError */
export function placeOf(path: string, environment: NodeJS.ProcessEnv): ListPlace {
  const url = resolveArgument(path, environment);
  if (url.startsWith('s3://')) return { path, database: undefined, remote: { kind: 's3', url } };
  if (/^https?:\/\//i.test(url)) return { path, database: undefined, remote: { kind: 'web', url } };
  return { path, database: findDatabaseUrl(path, environment) };
}

function s3Place(url: string): ListPlace {
  return { path: url, database: undefined, remote: { kind: 's3', url } };
}

/** The file or the object beside a place, whose name ends otherwise. */
export function besidePlace({ path, database, remote }: ListPlace, ending: string): ListPlace {
  const beside = remote && { ...remote, url: `${remote.url}${ending}` };
  return { path: `${path}${ending}`, database, ...(beside && { remote: beside }) };
}

/** Removes the file or the object, if it is there. */
export async function removePlace({ path, remote }: ListPlace): Promise<void> {
  if (!remote) return rm(path, { force: true });
  const { removeS3Object } = await import('../places/s3/index.js');
  await removeS3Object(remote.url);
}

/** The path of a place that is a file or a standard stream. */
export function pathOf({ path, database, remote }: ListPlace): string | undefined {
  return (database ?? remote) ? undefined : path;
}

/**
 * The inputs of one list, in order: a folder and a pattern stand for their files.
 *
 * @throws ConfigurationError, InputError `input_unreadable`
 */
export async function findInputs(
  positionals: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<readonly ListPlace[]> {
  if (positionals.length === 0) {
    throw new ConfigurationError(
      'name the input: a file, several, a folder, an https:// address, the URL of a database, or - for standard input (sluice verify --help shows how)',
    );
  }
  const places = positionals.map((path) => placeOf(path, environment));
  const alone = places.find(({ path, database }) => database ?? path === standard);
  if (alone && places.length > 1) {
    throw new ConfigurationError(
      `${alone.database ? 'a database' : 'standard input'} is an input of its own, but ${places.length} inputs are named: ${positionals.map(showArgument).join(', ')}`,
    );
  }
  if (alone) return [alone];
  const files: ListPlace[] = [];
  for (const place of places) {
    if (place.remote?.kind === 's3') {
      const { findS3Objects } = await import('../places/s3/index.js');
      const found = await findS3Objects(place.remote.url);
      files.push(...found.map((url) => s3Place(url)));
    } else if (place.remote) files.push(place);
    else {
      const found = await findFiles(place.path);
      files.push(...found.map((path) => ({ path, database: undefined })));
    }
  }
  await refuseRepeated(files);
  return files;
}

/** Its rows would come out twice. */
async function refuseRepeated(files: readonly ListPlace[]): Promise<void> {
  const seen = new Map<string, string>();
  for (const { path, remote } of files) {
    const real = remote?.url ?? (await realpath(path).catch(() => path));
    const before = seen.get(real);
    if (before !== undefined) {
      throw new ConfigurationError(
        before === path || remote
          ? `${showArgument(path)} is named twice: name each input once`
          : `${showArgument(before)} and ${showArgument(path)} are the same file: name each input once`,
      );
    }
    seen.set(real, path);
  }
}
