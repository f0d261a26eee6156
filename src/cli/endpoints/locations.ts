import { rm } from 'node:fs/promises';
import {
  ConfigurationError,
  findLists,
  parseLocation,
  showLocation,
  type DatabaseKind,
  type ListLocation,
} from '../../index.js';
import { refuseMisspelt, resolvePath, standard } from './paths.js';
import { type Surroundings, programName, type Called } from '../command.js';

/** One end of a list: its path is what the command line calls it, found from its folder for a file. */
export type Location = ListLocation & { readonly path: string };

/** A table or a query of a database. */
export type DatabaseLocation = Location & { readonly kind: DatabaseKind };

export function isDatabase(location: Location): location is DatabaseLocation {
  return !['file', 'web', 's3'].includes(location.kind);
}

export function locationOf(
  path: string,
  { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>,
): Location {
  const name = resolveArgument(path, env);
  const place = parseLocation(resolvePath(cwd, name));
  if (place.kind !== 'file') return { ...place, path };
  if (name === path) return place;
  // What it holds is not said: it may be a password.
  throw new ConfigurationError(`what ${path} holds is not the URL of a list or of a database`);
}

/** What an argument stands for: `env:NAME` for what that variable of the environment holds. */
function resolveArgument(argument: string, env: NodeJS.ProcessEnv): string {
  const variable = /^env:(.+)$/s.exec(argument)?.[1];
  if (variable === undefined) return argument;
  const value = env[variable];
  if (value !== undefined && value !== '') return value;
  throw new ConfigurationError(
    `the environment has no variable ${variable}, which ${argument} names`,
  );
}

/** The file or the object beside a location, whose name ends otherwise. */
export function besideLocation(location: Location, ending: string): Location {
  const path = `${location.path}${ending}`;
  return location.kind === 'file'
    ? { kind: 'file', path }
    : { ...location, path, url: `${location.url}${ending}` };
}

/** Removes the file or the object, if it is there. */
export async function removeAt(location: Location): Promise<void> {
  if (location.kind === 'file') return rm(location.path, { force: true });
  const { removeS3Object } = await import('../../lists/remote/s3/index.js');
  await removeS3Object(location.url);
}

/** The path of a file or a standard stream. */
export function pathOf({ kind, path }: Location): string | undefined {
  return kind === 'file' ? path : undefined;
}

/** What the library is given for it: a path, or a URL. */
export function listAt(location: Location): string {
  return location.kind === 'file' ? location.path : location.url;
}

/** The inputs of one list, in order: a folder and a pattern stand for their files. */
export async function findInputs(
  positionals: readonly string[],
  called: Called,
): Promise<readonly Location[]> {
  if (positionals.length === 0) {
    throw new ConfigurationError(
      `name the input: a file, several, a folder, an https:// address, the URL of a database, or - for standard input (${programName(called)} verify --help shows how)`,
    );
  }
  const locations = positionals.map((path) => locationOf(path, called));
  const alone = locations.find((each) => isDatabase(each) || each.path === standard);
  if (alone && locations.length > 1) {
    throw new ConfigurationError(
      `${isDatabase(alone) ? 'a database' : 'standard input'} is an input of its own, but ${locations.length} inputs are named: ${positionals.map(showLocation).join(', ')}`,
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
