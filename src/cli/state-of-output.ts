import { defaultStateDir, type Sink } from '../index.js';
import type { ParsedOptions } from './command.js';
import { tableStateDirectory } from './database-ends.js';
import type { NamedPlace } from './list-places.js';
import { standard } from './standard.js';

/** Where a run into a place keeps what it needs to go on, if it keeps anything. */
export function stateDirectoryOf(
  { path, database, remote }: NamedPlace,
  options: ParsedOptions<'state' | 'into'>,
): string | undefined {
  const given = options.text('state');
  if (given !== undefined) return given;
  if (database) return options.has('into') ? tableStateDirectory(database, options) : undefined;
  return path === standard ? undefined : defaultStateDir(remote?.url ?? path);
}

/** What is written directly has no state directory unless one is asked for. */
export async function isHeldBack(
  { database, remote }: NamedPlace,
  sink: Sink,
  options: ParsedOptions<'part-size'>,
): Promise<boolean> {
  if (database ?? remote ?? options.has('part-size')) return true;
  return (await sink.mayBeginEarly?.()) === true;
}
