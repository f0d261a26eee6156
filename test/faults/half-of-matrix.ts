import { expect } from 'vitest';
import { drawnPart } from './drawn-part.js';
import { planMatrix, troublesOf } from './fault-matrix.js';

/** Goes through every second case: two files share the matrix, and the cores of a small machine. */
export async function expectHalf(first: 0 | 1): Promise<void> {
  const matrix = await planMatrix();
  const { cases, unreached } = matrix;
  const whole = cases.filter((_, at) => at % 2 === first);
  expect(whole.length).toBeGreaterThan(500);
  const half = drawnPart(whole);
  const troubles = await troublesOf(half, matrix);
  console.log(
    `${half.length} of ${cases.length} faults, each at one request of a run; ${unreached} more at operations that no run asks for`,
  );
  expect(troubles).toEqual([]);
}
