import { inspect } from 'node:util';
import { expect } from 'vitest';
import { exitCodeOf } from '../../../../src/cli/process/exit-code.js';

/** What a promise is rejected with. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('it was not rejected');
}

/** Holds an error to its exit code. A failure shows the error, and what caused it. */
export function expectExit(error: unknown, exitCode: number): void {
  expect(exitCodeOf(error), inspect(error)).toBe(exitCode);
}
