import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError } from '../errors/family.js';

/** The database that is in no file. */
export const inMemory = ':memory:';

/** @throws ConfigurationError for a database that would be gone with the process */
export function refuseInMemory(path: string, scheme: string): void {
  if (path !== inMemory) return;
  throw new ConfigurationError(
    `a database in memory is gone with the process: name a file for the output, ${scheme}:path`,
  );
}

/** Whether a database's file is there. */
export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** What is only looked at is not made: a file that is not there is taken for an empty database. */
export async function placeToLookAt(path: string): Promise<string> {
  if (await isThere(path)) return path;
  await access(dirname(resolve(path)), constants.W_OK);
  return inMemory;
}
