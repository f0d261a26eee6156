import { StateError } from '../errors/family.js';
import type { Source } from '../rows/source.js';
import type { FileSystem } from '../system/file-system.js';
import { onDisk } from './on-disk.js';
import { readFileBytes } from './read-file.js';
import type { StateDirectory } from './state-directory.js';

/**
 * Makes a source that can be read twice of one that can be read once: what it gives is written into the
 * state directory first. When a run goes on, what the source gives now is compared with that; a source
 * that gives nothing, or that says so, is not needed again.
 *
 * @throws InputError, OutputError; StateError `state_mismatch` when it gives something else
 */
export async function keepSource(
  source: Source,
  state: StateDirectory,
  files: FileSystem,
  signal: AbortSignal,
): Promise<Source> {
  if (!source.keep || !source.kept) return source;
  if (!state.known.kept) {
    const kept = await source.keep(state.inputPath, signal);
    await state.record({ entry: 'kept' });
    return kept;
  }
  if (source.isSettledWhenKept === true) return source.kept(state.inputPath);
  const again = `${state.inputPath}.again`;
  await source.keep(again, signal);
  const { size } = await onDisk(`read ${again}`, async () => files.stat(again));
  if (size > 0 && !(await haveSameBytes(files, state.inputPath, again))) {
    throw new StateError(
      `${source.name} gives something else than the unfinished run in the state directory has read from it: give the same again, or nothing, to go on; or start over with --fresh`,
      { code: 'state_mismatch' },
    );
  }
  await onDisk(`remove ${again}`, async () => files.rm(again));
  return source.kept(state.inputPath);
}

async function haveSameBytes(files: FileSystem, one: string, other: string): Promise<boolean> {
  const sizes = await onDisk(`read ${one}`, async () =>
    Promise.all([files.stat(one), files.stat(other)]),
  );
  if (sizes[0].size !== sizes[1].size) return false;
  const bytes = readFileBytes(files, other);
  for await (const chunk of readFileBytes(files, one)) {
    const next = await bytes.next();
    if (next.done === true || !chunk.equals(next.value)) return false;
  }
  return true;
}
