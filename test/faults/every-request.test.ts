import { expect, it } from 'vitest';
import { drawnPart } from './drawn-part.js';
import { faultKinds } from './fault-kinds.js';
import { planMatrix, troublesOf } from './fault-matrix.js';

it('loses no row and pays nothing twice, whatever goes wrong at any request', async () => {
  const matrix = await planMatrix();
  const { cases, unreached } = matrix;
  expect(cases.length).toBeGreaterThan(1000);
  const drawn = drawnPart(cases, ({ kind, request }) => faultKinds.indexOf(kind) + request);
  const troubles = await troublesOf(drawn, matrix);
  console.log(
    `${drawn.length} of ${cases.length} faults, each at one request of a run; ${unreached} more at operations that no run asks for`,
  );
  expect(troubles).toEqual([]);
});
