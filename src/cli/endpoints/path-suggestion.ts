import { existsSync, readdirSync } from 'node:fs';
import { join, parse, sep } from 'node:path';
import { editDistance } from '../../platform/text/edit-distance.js';

/** Names that differ in more characters are not meant. */
const furthest = 2;

/**
 * The path that was probably meant by one that is not there: each name that its folder has not got is
 * taken for the nearest that it has.
 *
 * @returns `undefined` when nothing is near
 */
export function nearPath(path: string): string | undefined {
  let found = parse(path).root;
  for (const name of path.split(sep)) {
    if (name === '') continue;
    const next = existsSync(join(found, name)) ? name : nearName(found || '.', name);
    if (next === undefined) return undefined;
    found = join(found, next);
  }
  return found;
}

function nearName(folder: string, wanted: string): string | undefined {
  const names = namesIn(folder)
    .map((name) => ({ name, distance: editDistance(name.toLowerCase(), wanted.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.min(furthest, name.length - 1))
    .toSorted((one, other) => one.distance - other.distance);
  return names[0]?.name;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
