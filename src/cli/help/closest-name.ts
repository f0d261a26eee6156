import { editDistance } from '../../platform/text/edit-distance.js';

/** Words further apart than this are not meant for one another. */
const furthest = 3;

/**
 * Finds the name that a misspelt word was probably meant to be.
 *
 * @returns `undefined` when none is near
 */
function closestName(word: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .filter(({ name, distance }) => distance <= Math.min(furthest, Math.floor(name.length / 2)))
    .toSorted((one, other) => one.distance - other.distance);
  return near[0]?.name ?? names.find((name) => word.length > 2 && name.startsWith(word));
}

/** `; did you mean …?`, or nothing. */
export function guess(word: string, names: readonly string[], prefix = ''): string {
  const name = closestName(word, names);
  return name === undefined ? '' : `; did you mean ${prefix}${name}?`;
}
