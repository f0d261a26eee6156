import { join } from 'node:path';
import type { Source } from '../../../lists/rows/source.js';
import { type FileSystem, readFileBytes, move } from '../../../platform/files/file-system.js';
import { onDisk } from '../../../platform/files/disk-errors.js';
import type { StateDirectory } from '../../stores/directory/state-directory.js';

export interface BufferedSource {
  readonly source: Source;
  /** The new rows replace those on disk. */
  adopt(): Promise<Source>;
}

/**
 * Makes a source that can be read once repeatable: its rows are written into the state directory first. When
 * a run continues, the new rows are written beside them; an empty or identical source is not needed again.
 */
export async function bufferSource(
  source: Source,
  store: StateDirectory,
  files: FileSystem,
  signal: AbortSignal,
): Promise<BufferedSource> {
  if (!source.keep || !source.kept) return { source, adopt: async () => source };
  const { kept } = store.state;
  const before = store.inputPath;
  if (!kept) {
    const first = await source.keep(before, signal);
    await store.record({ entry: 'kept' });
    return { source: first, adopt: async () => first };
  }
  const again = join(store.path, 'input.again');
  await source.keep(again, signal);
  const { size } = await onDisk(`read ${again}`, async () => files.stat(again));
  if (size === 0 || (await haveSameBytes(files, before, again))) {
    await onDisk(`remove ${again}`, async () => files.rm(again));
    const same = source.kept(before);
    return { source: same, adopt: async () => same };
  }
  const keptAt = (path: string): Source => source.kept?.(path) ?? source;
  return {
    source: keptAt(again),
    adopt: async () => {
      const file = nextName(kept.file);
      const path = join(store.path, file);
      await onDisk(`keep ${path}`, async () => move(files, { from: again, to: path }));
      await store.record({ entry: 'kept', file });
      await onDisk(`remove ${before}`, async () => files.rm(before, { force: true }));
      return keptAt(path);
    },
  };
}

/** Never the previous name: the journal decides which file counts. */
function nextName(file = 'input.1'): string {
  return `input.${Number(file.slice('input.'.length)) + 1}`;
}

async function haveSameBytes(files: FileSystem, one: string, other: string): Promise<boolean> {
  const sizes = await onDisk(`read ${one}`, async () =>
    Promise.all([files.stat(one), files.stat(other)]),
  );
  if (sizes[0].size !== sizes[1].size) return false;
  const bytes = readFileBytes(files, other);
  try {
    for await (const chunk of readFileBytes(files, one)) {
      const next = await bytes.next();
      if (next.done === true || !chunk.equals(next.value)) return false;
    }
    return true;
  } finally {
    // An unfinished reading keeps its file open.
    await bytes.return(undefined);
  }
}
