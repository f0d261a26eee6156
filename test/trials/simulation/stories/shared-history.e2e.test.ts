import { expect, it } from 'vitest';
import { simulateSharedHistory } from './shared-history.js';

/** Under the first a process comes as the run ends; under the others runs are resumed after others have paid. */
const seeds = [4, 147, 222];

it(`pays once under ${seeds.length} seeds of runs with one history, shared and alone`, async () => {
  let replaced = 0;
  for (const seed of seeds) {
    const end = await simulateSharedHistory(seed);
    // npm run test:simulation -- --histories-seed K tells the story of seed K.
    expect(end.failure, `seed ${seed}`).toBeUndefined();
    replaced += end.replaced;
  }
  expect(replaced).toBeGreaterThan(0);
});
