import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError } from '../../platform/errors/errors.js';
import { isThere } from '../../platform/files/exists.js';
import type { Purpose } from './dialect.js';

/** The database that is in no file. */
export const inMemory = ':memory:';

/** The path in `sqlite:path`, or a path itself. @throws ConfigurationError */
export function pathOfUrl(url: string, scheme: string): string {
  const path = url.startsWith(`${scheme}:`) ? url.slice(scheme.length + 1) : url;
  if (path !== '') return path;
  throw new ConfigurationError(`name the file of the database: ${scheme}:path`);
}

/**
 * How messages call the database in a file.
 *
 * @throws ConfigurationError for one that is written and would be gone with the process
 */
export function nameOfFile(url: string, scheme: string, purpose: Purpose): string {
  const path = pathOfUrl(url, scheme);
  if (purpose === 'read' || path !== inMemory) return `${scheme}:${path}`;
  throw new ConfigurationError(
    `a database in memory is gone with the process: name a file for the output, ${scheme}:path`,
  );
}

/** The path of a database that is in a file. */
export function fileOfUrl(url: string, scheme: string): string | undefined {
  const path = pathOfUrl(url, scheme);
  return path === inMemory ? undefined : path;
}

/** Where a database is opened, and whether opening it makes its file. Errors are the system's. */
export async function placeOfFile(
  path: string,
  purpose: Purpose,
): Promise<{ readonly store: string; readonly isNew: boolean }> {
  if (path === inMemory) return { store: inMemory, isNew: false };
  // A path, and never the address of a server.
  const store = resolve(path);
  if (purpose === 'read') await stat(path);
  const isNew = !(await isThere(path));
  if (!isNew || purpose === 'write') return { store, isNew };
  await access(dirname(store), constants.W_OK);
  return { store: inMemory, isNew: false };
}
