const deepest = 3;

/**
 * Looks for an object in an answer whose place is not shown: at the top and a few levels below. It may be
 * absent.
 *
 * @param read gives what an object is read as, if it is the one
 */
export function findBelow<Found>(
  answer: unknown,
  read: (object: object) => Found | undefined,
  depth = 0,
): Found | undefined {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return undefined;
  const found = read(answer);
  if (found !== undefined || depth === deepest) return found;
  for (const value of Object.values(answer)) {
    const below = findBelow(value, read, depth + 1);
    if (below !== undefined) return below;
  }
  return undefined;
}
