import { expect, it } from 'vitest';
import { planMatrix, troublesOf } from './fault-matrix.js';
import { createSeededRandom } from '../../src/service/faults/fault-schedule.js';

const sampleSize = 8;

it('loses no row and pays nothing twice at a sample of the faults that test:faults goes through', async () => {
  const seed = Number(process.env['FAULTS_SEED'] ?? Date.now() % 2 ** 32);
  console.log(`FAULTS_SEED=${seed}`);
  const random = createSeededRandom(seed);
  const matrix = await planMatrix();
  const { cases } = matrix;
  const sample = Array.from(
    { length: sampleSize },
    () => cases.slice(Math.floor(random() * cases.length))[0],
  ).filter((each) => each !== undefined);
  expect(await troublesOf(sample, matrix)).toEqual([]);
});
