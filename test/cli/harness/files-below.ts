import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The files in a folder, at whatever depth. */
export async function filesBelow(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
