import { defineConfig } from 'vitest/config';
import { sourcesForTests } from './scripts/tests/compiled-sources.mjs';
import { useMemoryFolder } from './scripts/tests/memory-folder.mjs';

const loaded = sourcesForTests();

useMemoryFolder();

// Processes are killed here by the hundred: not a part of `npm test`, but of `npm run test:kill`.
export default defineConfig({
  plugins: loaded.plugins,
  test: {
    ...loaded.test,
    include: ['test/trials/kill/**/*.test.ts'],
    globalSetup: ['test/setup/prepare-tests.ts'],
    fileParallelism: false,
    testTimeout: 3_600_000,
  },
});
