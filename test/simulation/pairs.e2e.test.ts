import { expect, it } from 'vitest';
import { describePair, planPairs, samplePairs, simulatePair } from './pairs.js';

const size = 40;

it(`loses no row and pays nothing twice under ${size} of the pairs that test:faults goes through`, async () => {
  const troubles: string[] = [];
  for (const pair of samplePairs(await planPairs(), size, 1)) {
    const { failure } = await simulatePair(pair);
    if (failure !== undefined) troubles.push(`${describePair(pair)}: ${failure}`);
  }
  expect(troubles).toEqual([]);
});
