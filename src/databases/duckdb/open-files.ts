import { ConfigurationError } from '../../errors/family.js';

/** How the files are open that this process has open. */
const open = new Map<string, { readonly isWritten: boolean; times: number }>();

/**
 * Notes that a file is open. DuckDB keeps other processes away from it, and not a second opening in the
 * same one, which may break it: a file that is written is open once.
 *
 * @returns notes that it is closed
 * @throws ConfigurationError when it is open, and one of the two writes
 */
export function noteOpen(path: string, isWritten: boolean): () => void {
  const known = open.get(path);
  if (known && (known.isWritten || isWritten)) {
    throw new ConfigurationError(
      `${path} is open in this process already: rows go from a DuckDB file into the same file, or into it from two runs, only one after the other`,
    );
  }
  const entry = known ?? { isWritten, times: 0 };
  entry.times += 1;
  open.set(path, entry);
  return () => {
    entry.times -= 1;
    if (entry.times === 0) open.delete(path);
  };
}
