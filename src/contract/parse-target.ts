/**
 * Finds a target's id from what a person gives: the id (7, `'7'`) or its meaning, compared without
 * case and surrounding blanks.
 *
 * @returns the id, or `undefined` when the table has neither.
 *
 * @example
 * ```ts
 * console.log(parseTarget(targetAudiences, '1')); // 1
 * ```
 */
export function parseTarget<Id extends number>(
  table: Readonly<Record<Id, string>>,
  given: number | string,
): Id | undefined {
  const wanted = String(given).trim().toLowerCase();
  for (const [id, meaning] of Object.entries<string>(table)) {
    if (id === wanted || meaning.toLowerCase() === wanted) return Number(id) as Id;
  }
  return undefined;
}
