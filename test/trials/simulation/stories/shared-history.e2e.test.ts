import { expect, it } from 'vitest';
import { simulateSharedHistory } from './shared-history.js';

/** Runs begin again after others have paid, with kills on the way; under the last before the service has taken a batch. */
const seeds = [4003, 4010, 4132];

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
