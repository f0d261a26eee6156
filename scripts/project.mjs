import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** Reads a JSON file of the project, named from its root. */
export async function readProjectJson(file) {
  return JSON.parse(await readFile(join(projectRoot, file), 'utf8'));
}

/** The entry points of the package: the name that is imported, and the module that it is. */
export async function readEntries() {
  const { exports: entries } = await readProjectJson('package.json');
  return Object.entries(entries).flatMap(([path, { types }]) => {
    const module = /^\.\/dist\/(.*)\.d\.ts$/.exec(types ?? '')?.[1];
    return module === undefined
      ? []
      : [{ entry: `sluice${path.slice(1)}`, module: `src/${module}.ts` }];
  });
}

/** The modules under a folder, in the order of their names. */
export async function sourceFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}
