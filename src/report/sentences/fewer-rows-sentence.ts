import { counted, grouped } from '../../platform/text/shown-numbers.js';

/** Of fewer rows nothing is concluded, unless there are none. */
const leastRows = 10;

interface CountedRows {
  readonly rows: number;
  readonly compared?:
    | {
        readonly previous: { readonly rows: number } | null;
        readonly runs: readonly { readonly rows: number }[];
      }
    | undefined;
}

/**
 * What to do about a list that has lost its rows, or more than half of those of the run before.
 *
 * @param isEmptied whether the output has replaced one that was longer
 * @returns `undefined` where it has as many as it should
 */
export function fewerRowsSentence(
  { rows, compared }: CountedRows,
  isEmptied: boolean,
): string | undefined {
  const remedy = 'check what makes the list, then run again';
  if (rows > 0) {
    const before = compared?.previous?.rows ?? 0;
    if (before < leastRows || rows * 2 >= before) return undefined;
    return `the list has ${counted(rows, 'row')} and had ${grouped(before)} in the run before: ${remedy}`;
  }
  // One empty night does not make the next one usual.
  const before = compared?.runs.findLast((run) => run.rows > 0)?.rows;
  if (before !== undefined) {
    return `the list has no rows and had ${grouped(before)} in an earlier run: ${remedy}`;
  }
  return isEmptied
    ? `the list has no rows, and the output that it replaced was longer: ${remedy}`
    : undefined;
}
