import { expect, it } from 'vitest';
import { planMatrix, troublesOf } from './fault-matrix.js';

/** One fault at the first request of each operation. */
const sample = [
  ['credits', '503 before'],
  ['uploadBatch', 'commit 60 ms after a reset'],
  ['listBatches', 'broken JSON after'],
  ['prepareBatch', 'parse error before'],
  ['launchBatch', 'reset after'],
  ['batchStatus', 'unknown status before'],
  ['exportBatch', 'end at 30'],
  ['deleteBatch', 'hang before'],
] as const;

it('loses no row and pays nothing twice at a sample of the faults that test:faults goes through', async () => {
  const matrix = await planMatrix();
  const cases = sample.map(([operation, name]) =>
    matrix.cases.find(
      (each) => each.operation === operation && each.kind.name === name && each.request === 1,
    ),
  );
  const made = cases.filter((each) => each !== undefined);
  expect(made).toHaveLength(sample.length);
  expect(await troublesOf(made, matrix)).toEqual([]);
});
