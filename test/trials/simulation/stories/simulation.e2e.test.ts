import { describe, expect, it } from 'vitest';
import { simulateNights } from './nights.js';
import { makeRows } from '../rows.js';
import { simulate } from './simulate.js';

/** `npm run verify` simulates those between them. Under the last, an upload comes while others are deleted. */
const seeds = [...Array.from({ length: 15 }, (_, at) => at + 1), 9_903_224];

describe('simulated runs', () => {
  it('hold under faults, by seeds', async () => {
    const failed: number[] = [];
    for (const seed of seeds) {
      const { failure } = await simulate(seed);
      if (failure !== undefined) failed.push(seed);
    }
    // npm run test:simulation -- --seed K tells the story of seed K.
    expect(failed).toEqual([]);
  });

  // `npm run verify` simulates the first 25.
  it.each([27, 31, 77, 128, 152, 248, 61_000_001, 61_000_022])(
    'hold over the nights of a list that changes, with stops and options of all kinds: %i',
    async (seed) => {
      // npm run test:simulation -- --nights-seed K tells the story.
      expect((await simulateNights(seed)).failure).toBeUndefined();
    },
  );

  it.each(['export_of_nothing', 'export_of_strangers'] as const)(
    'fail the batches whose exports stay in doubt, and finish by a retry that pays nothing: %s',
    async (what) => {
      const trace: string[] = [];
      const { failure, lives } = await simulate(7, trace, (random) => ({
        rows: makeRows(random, 2, 2),
        faults: [{ of: 'network', stage: 'exportBatch', what, nth: 0, times: 20 }],
        credit: Infinity,
        clockSkewMs: 0,
        options: { concurrency: 2, deleteBatches: true },
      }));
      expect(failure).toBeUndefined();
      expect(lives).toBeGreaterThan(1);
      expect(trace.filter((line) => line.endsWith('the output is there')).length).toBe(lives);
    },
  );
});
