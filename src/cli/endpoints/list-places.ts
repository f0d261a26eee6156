import { rm } from 'node:fs/promises';
import {
  ConfigurationError,
  findLists,
  parsePlace,
  showPlace,
  type DatabaseKind,
} from '../../index.js';
import { refuseMisspelt, resolvePath, standard } from './paths.js';
import { type Surroundings, programName, type Called } from '../command.js';

/** One end of a list, as it is named on the command line. */
export interface NamedPlace {
  readonly path: string;
  /** The database that it is in; `undefined` for files and standard streams. */
  readonly database: DatabaseUrl | undefined;
  /** The URL of a list on a server. */
  readonly remote?: RemoteUrl;
}

/** A database as an argument names it. */
export interface DatabaseUrl {
  readonly kind: DatabaseKind;
  /** May hold a password: it is never printed. */
  readonly url: string;
}

/** A list on a web server or in a bucket. */
export interface RemoteUrl {
  readonly kind: 'web' | 's3';
  /** May hold a password, or a signature: it is never printed. */
  readonly url: string;
}

/** @throws ConfigurationError */
export function placeOf(path: string, { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>): NamedPlace {
  const name = resolveArgument(path, env);
  const place = parsePlace(resolvePath(cwd, name));
  if (place.kind === 'file') {
    if (name === path) return placeOfFile(place.path);
    // What it holds is not said: it may be a password.
    throw new ConfigurationError(`what ${path} holds is not the URL of a list or of a database`);
  }
  const { kind, url } = place;
  if (kind !== 's3' && kind !== 'web') return { path, database: { kind, url } };
  return { path, database: undefined, remote: { kind, url } };
}

/**
 * What an argument stands for: `env:NAME` for what that variable of the environment holds.
 *
 * @throws ConfigurationError
 */
function resolveArgument(argument: string, env: NodeJS.ProcessEnv): string {
  const variable = /^env:(.+)$/s.exec(argument)?.[1];
  if (variable === undefined) return argument;
  const value = env[variable];
  if (value !== undefined && value !== '') return value;
  throw new ConfigurationError(
    `the environment has no variable ${variable}, which ${argument} names`,
  );
}

function placeOfFile(path: string): NamedPlace {
  return { path, database: undefined };
}

/** The file or the object beside a place, whose name ends otherwise. */
export function besidePlace({ path, database, remote }: NamedPlace, ending: string): NamedPlace {
  const beside = remote && { ...remote, url: `${remote.url}${ending}` };
  return { path: `${path}${ending}`, database, ...(beside && { remote: beside }) };
}

/** Removes the file or the object, if it is there. */
export async function removePlace({ path, remote }: NamedPlace): Promise<void> {
  if (!remote) return rm(path, { force: true });
  const { removeS3Object } = await import('../../lists/remote/s3/index.js');
  await removeS3Object(remote.url);
}

/** The path of a place that is a file or a standard stream. */
export function pathOf({ path, database, remote }: NamedPlace): string | undefined {
  return (database ?? remote) ? undefined : path;
}

/**
 * The inputs of one list, in order: a folder and a pattern stand for their files.
 *
 * @throws ConfigurationError, InputError `input_unreadable`
 */
export async function findInputs(
  positionals: readonly string[],
  called: Called,
): Promise<readonly NamedPlace[]> {
  if (positionals.length === 0) {
    throw new ConfigurationError(
      `name the input: a file, several, a folder, an https:// address, the URL of a database, or - for standard input (${programName(called)} verify --help shows how)`,
    );
  }
  const places = positionals.map((path) => placeOf(path, called));
  const alone = places.find(({ path, database }) => database ?? path === standard);
  if (alone && places.length > 1) {
    throw new ConfigurationError(
      `${alone.database ? 'a database' : 'standard input'} is an input of its own, but ${places.length} inputs are named: ${positionals.map(showPlace).join(', ')}`,
    );
  }
  if (alone) return [alone];
  for (const { path, remote } of places) if (!remote) await refuseMisspelt(path);
  const lists = await findLists(places.map(({ path, remote }) => remote?.url ?? path));
  return lists.map((list) => {
    const place = parsePlace(list);
    return place.kind === 'file' ? placeOfFile(place.path) : placeOf(list, called);
  });
}
