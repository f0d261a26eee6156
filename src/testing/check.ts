import { isDeepStrictEqual } from 'node:util';

/** One thing that a source or a sink has to do; any test runner can run it. */
export interface Check {
  /** A sentence: `gives all rows, in order`. */
  readonly name: string;
  /** Resolves when it does. */
  run(): Promise<void>;
}

/** Says what was expected and what came instead. */
export function expectEqual(found: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(found, expected)) return;
  throw new Error(`${what}: expected ${shown(expected)}, and it was ${shown(found)}`);
}

/** Gives the error that work ends with. */
export async function expectFailure(work: Promise<unknown>, what: string): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error(`${what}: it should fail`);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
