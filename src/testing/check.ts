import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';

/** One thing that a source or a sink has to do; any test runner can run it. */
export interface Check {
  /** A sentence: `gives all rows, in order`. */
  readonly name: string;
  /** Resolves when it does. */
  run(): Promise<void>;
}

/**
 * Compares what came with what should have come.
 *
 * @throws AssertionError which says the first difference, with both as `actual` and `expected`: test
 *   runners show the rest
 */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new AssertionError({
    message: `${what}: ${firstDifference(found, expected)}`,
    actual: found,
    expected,
    operator: 'deepStrictEqual',
  });
}

/** Gives the error that work ends with. */
export async function expectFailure(work: Promise<unknown>, what: string): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new AssertionError({ message: `${what}: it should fail` });
}

/** Where two values differ first: the row, the column, and what is there. */
function firstDifference(found: unknown, expected: unknown): string {
  if (Array.isArray(found) && Array.isArray(expected)) {
    const at = expected.findIndex((item, index) => !isDeepStrictEqual(found[index], item));
    if (at === -1 || at >= found.length) {
      return `there should be ${expected.length}, and there are ${found.length}`;
    }
    const item: unknown = expected[at];
    const place = typeof item === 'object' && item !== null ? 'row' : 'column';
    return `${place} ${at + 1}: ${firstDifference(found[at], item)}`;
  }
  if (isRecord(found) && isRecord(expected)) {
    for (const name of Object.keys({ ...expected, ...found })) {
      if (!Object.hasOwn(expected, name)) return `${shown(name)} should not be there`;
      const wanted = `${shown(name)} should be ${shown(expected[name])}`;
      if (!Object.hasOwn(found, name)) return `${wanted}, and is missing`;
      if (!isDeepStrictEqual(found[name], expected[name])) {
        return `${wanted}, and is ${shown(found[name])}`;
      }
    }
  }
  return `it should be ${shown(expected)}, and is ${shown(found)}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
