import type { Sink } from '../index.js';
import type { ParsedOptions } from './command.js';
import { tableStateDirectory } from './database-ends.js';
import { bucketStateDirectory, partsStateDirectory } from './list-ends.js';
import type { ListPlace } from './list-places.js';
import { standard } from './standard.js';

/** Where a run into a place keeps what it needs to go on, if it keeps anything. */
export function stateDirectoryOf(
  { path, database, remote }: ListPlace,
  options: ParsedOptions<'state' | 'into' | 'part-size' | 'split-by'>,
): string | undefined {
  const given = options.text('state');
  if (given !== undefined) return given;
  if (database) return options.has('into') ? tableStateDirectory(options) : undefined;
  if (remote) return bucketStateDirectory(remote.url);
  if (path === standard) return undefined;
  const isFolder = options.has('part-size') || options.has('split-by');
  return isFolder ? partsStateDirectory(path) : `${path}.sluice`;
}

/** What is written directly has no state directory unless one is asked for. */
export async function isHeldBack(
  { database, remote }: ListPlace,
  sink: Sink,
  options: ParsedOptions<'part-size'>,
): Promise<boolean> {
  if (database ?? remote ?? options.has('part-size')) return true;
  return (await sink.mayBeginEarly?.()) === true;
}
