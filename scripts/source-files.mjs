import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The modules under a folder, in the order of their names. */
export async function sourceFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}
