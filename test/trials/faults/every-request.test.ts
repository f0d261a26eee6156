import { expect, it } from 'vitest';
import { drawnPart, isFixed } from './drawn-part.js';
import { faultKinds } from './fault-kinds.js';
import { fixedCases, planMatrix, troublesOf } from './fault-matrix.js';

it('loses no row and pays nothing twice, whatever goes wrong at any request', async () => {
  // A first request is made by every run.
  const matrix = await planMatrix(isFixed ? 1 : undefined);
  const { cases, unreached } = matrix;
  expect(cases.length).toBeGreaterThan(1000);
  const chosen = isFixed ? fixedCases(cases) : cases;
  const planned = drawnPart(chosen, ({ kind, request }) => faultKinds.indexOf(kind) + request);
  const troubles = await troublesOf(planned, matrix);
  console.log(
    `${planned.length} of ${cases.length} faults, each at one request of a run; ${unreached} more at operations that no run asks for`,
  );
  expect(troubles).toEqual([]);
});
