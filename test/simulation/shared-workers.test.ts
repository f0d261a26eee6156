import { expect, it } from 'vitest';
import { simulateShared } from './shared-workers.js';

const seeds = 12;

it(`pays once and finds every result under ${seeds} seeds of processes that are frozen, killed and cut off, and stores that lose commits`, async () => {
  const failed: string[] = [];
  let [handedOver, disturbances, failovers, refused] = [0, 0, 0, 0];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const end = await simulateShared(seed);
    handedOver += end.handedOver;
    disturbances += end.disturbances;
    failovers += end.failovers;
    refused += end.refused;
    // npm run test:simulation -- --shared-seed K tells the story of seed K.
    if (end.failure !== undefined) failed.push(`seed ${seed}: ${end.failure}`);
  }
  expect(failed).toEqual([]);
  expect(handedOver).toBeGreaterThan(seeds);
  expect(disturbances).toBeGreaterThan(2 * seeds);
  expect(failovers).toBeGreaterThan(seeds / 4);
  expect(refused).toBeGreaterThan(0);
});

it('counts launches that a restored store does not know of before any other, under a budget', async () => {
  const { failure } = await simulateShared(1_007_718);
  expect(failure).toBeUndefined();
});
