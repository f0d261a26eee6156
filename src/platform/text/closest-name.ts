import { counted } from './shown-numbers.js';

/** Edits of one character between two words; a transposition counts as one. */
export function editDistance(one: string, other: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 &&
        column > 1 &&
        one[row - 1] === other[column - 2] &&
        one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    before = previous;
    previous = current;
  }
  return previous[other.length] ?? 0;
}
const furthest = 3;

/** Finds the name probably meant by a misspelt word. @returns `undefined` when none is close */
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

const mostNames = 20;

/** The names that there are, in a message; of very many those most like the given one, and how many more. */
export function namesNear(given: string, names: readonly string[]): string {
  if (names.length <= mostNames) return names.join(', ');
  const wanted = inShort(given);
  const near = names
    .map((name) => ({ name, distance: editDistance(inShort(name), wanted) }))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, mostNames)
    .map(({ name }) => name);
  return `${near.join(', ')}, and ${counted(names.length - mostNames, 'other')}`;
}

function inShort(name: string): string {
  return name.slice(0, 64).toLowerCase();
}
