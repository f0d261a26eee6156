import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** Reads a JSON file of the project, named from its root. */
export async function readProjectJson(file) {
  return JSON.parse(await readFile(join(projectRoot, file), 'utf8'));
}
