import { expect, it } from 'vitest';
import { describePair, planPairs, samplePairs, simulatePair } from './pairs.js';

const size = 40;

it(`loses no row and pays nothing twice under ${size} of the pairs that test:faults goes through`, async () => {
  const seed = Number(process.env['FAULTS_SEED'] ?? Date.now() % 2 ** 32);
  const pairs = await planPairs();
  console.log(`FAULTS_SEED=${seed}: ${size} of ${pairs.length} pairs of faults`);
  const troubles: string[] = [];
  for (const pair of samplePairs(pairs, size, seed)) {
    const { failure } = await simulatePair(pair);
    if (failure !== undefined) troubles.push(`${describePair(pair)}: ${failure}`);
  }
  expect(troubles).toEqual([]);
});
