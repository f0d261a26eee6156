import { defaultStateDir, type Sink } from '../../index.js';
import type { CommandInput, ParsedOptions } from '../command.js';
import { tableStateDirectory } from './database-ends.js';
import type { NamedPlace } from './list-places.js';
import { resolvePath } from './resolve-path.js';
import { standard } from './stdio.js';

/** Where a run into a place keeps what it needs to go on, if it keeps anything. */
export function stateDirectoryOf(
  { path, database, remote }: NamedPlace,
  { options, cwd }: Pick<CommandInput<'state' | 'into'>, 'options' | 'cwd'>,
): string | undefined {
  const given = options.text('state');
  if (given !== undefined) return given;
  if (path === standard || (database && !options.has('into'))) return undefined;
  const found = database
    ? tableStateDirectory(database, options)
    : defaultStateDir(remote?.url ?? path);
  return resolvePath(cwd, found);
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
