import { OutputError } from '../errors/family.js';

/** Counts the keys that stand in more than one of the staged rows, as one cell. */
export function repeatedKeysQuery(staged: string, cells: readonly string[]): string {
  return `SELECT count(*) FROM (SELECT 1 FROM ${staged} GROUP BY ${cells.join(', ')} HAVING count(*) > 1) AS r`;
}

/**
 * Refuses keys that the database takes for the same, though their texts differ: those were told apart
 * before.
 *
 * @param rows what `repeatedKeysQuery` gave
 * @throws OutputError
 */
export function refuseRepeatedKeys(
  [row]: readonly (readonly unknown[])[],
  key: readonly string[],
): void {
  const count = row?.[0];
  if (Number(count) === 0) return;
  throw new OutputError(
    `${String(count)} keys stand in more than one row of the input, and a table has one row for each: ${key.join(', ')} must tell the rows apart`,
  );
}
