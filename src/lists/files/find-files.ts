import { readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { InputError } from '../../platform/errors/errors.js';
import { refuseReading } from '../../platform/files/disk-errors.js';
import { formatOfPath } from './file-format.js';
import { hasWildcard, isHidden, parseGlob, type Glob } from './glob.js';

/**
 * The files that a path means: itself, those of a folder whose ending names a format, or those that a
 * pattern matches; of several, sorted by name.
 */
export async function findFiles(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found) return found.isDirectory() ? filesOfFolder(path) : [path];
  // What is not there says so when it is opened.
  if (!hasWildcard(path)) return [path];
  const pattern = sep === '/' ? path : path.replaceAll(sep, '/');
  const glob = parseGlob(pattern);
  const files = await filesBelow(glob.base, depthOf(pattern, glob));
  const matching = files.filter((file) => glob.matches(file)).toSorted(byName);
  if (matching.length > 0) return matching;
  throw new InputError(`cannot read ${path}: no file matches it`, { code: 'input_unreadable' });
}

async function filesOfFolder(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(refuseReading(folder));
  const names = entries
    .filter((entry) => !entry.isDirectory() && isListName(entry.name))
    .map(({ name }) => name)
    .toSorted(byName);
  if (names.length > 0) return names.map((name) => join(folder, name));
  throw new InputError(
    `cannot read ${folder}: it is a folder without a file that ends in .csv, .tsv, .jsonl, .txt, .xlsx or .parquet`,
    { code: 'input_unreadable' },
  );
}

/** Whether a name is that of a list: it is not hidden, and its ending names a format. */
export function isListName(name: string): boolean {
  return !isHidden(name) && formatOfPath(name).format !== undefined;
}

/** By their characters, whatever the language of the machine: the order decides the output's. */
export function byName(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** How many folders below its base a pattern looks into. */
function depthOf(pattern: string, { base }: Glob): number {
  const rest = pattern.slice(base.length);
  return rest.includes('**') ? Infinity : rest.split('/').length - 1;
}

async function filesBelow(base: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(base === '' ? '.' : base, { withFileTypes: true }).catch(
    refuseReading(base),
  );
  const below = await Promise.all(
    entries.map(async (entry) => {
      const path = base + entry.name;
      if (!entry.isDirectory()) return [path];
      return depth > 0 ? filesBelow(`${path}/`, depth - 1) : [];
    }),
  );
  return below.flat();
}
