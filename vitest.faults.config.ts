import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { sourcesForTests } from './scripts/tests/compiled-sources.mjs';
import { useMemoryFolder } from './scripts/tests/memory-folder.mjs';

/** So many processes share the cases of each suite. */
const shares = availableParallelism();

const loaded = sourcesForTests();

useMemoryFolder();

// Every fault at every request takes minutes: not a part of `npm test`, but of `npm run test:faults`.
export default defineConfig({
  test: {
    projects: Array.from({ length: shares }, (_, share) => ({
      plugins: loaded.plugins,
      test: {
        ...loaded.test,
        name: `${share + 1}/${shares}`,
        include: ['test/trials/faults/every-*.test.ts'],
        env: { FAULTS_SHARE: String(share), FAULTS_SHARES: String(shares) },
        testTimeout: 900_000,
        pool: 'forks',
        // Both suites load the same modules.
        isolate: false,
        // Room for what is young, and no threads for the garbage: they would take the core from another process.
        execArgv: ['--single-threaded-gc', '--min-semi-space-size=32', '--max-semi-space-size=32'],
      },
    })),
    // Left alone, Vitest keeps one core to itself: on a small machine that is half of it.
    maxWorkers: shares,
  },
});
