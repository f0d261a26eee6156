import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../platform/check-options.js';

/** A requirement of a source or a sink, for any test runner. */
export interface Check {
  /** As a sentence: `gives all rows, in order`. */
  readonly name: string;
  /** Resolves if it is met. */
  run(): Promise<void>;
}

/** Compares two values. @throws AssertionError with the first difference, and both for the test runner */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new AssertionError({
    message: `${what}: ${firstDifference(found, expected)}`,
    actual: found,
    expected,
    operator: 'deepStrictEqual',
  });
}

export async function expectFailure(work: Promise<unknown>, what: string): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new AssertionError({ message: `${what}: it should fail` });
}

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
  if (isObject(found) && isObject(expected)) {
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

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
