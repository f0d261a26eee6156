import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Every fault at every request takes minutes: not a part of `npm test`, but of `npm run test:faults`.
export default defineConfig({
  test: {
    include: ['test/faults/*-half.test.ts'],
    testTimeout: 900_000,
    // Left alone, Vitest keeps one core to itself: on a small machine that is half of it.
    maxWorkers: availableParallelism(),
  },
});
