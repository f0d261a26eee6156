import { defineConfig } from 'vitest/config';
import { useMemoryFolder } from './scripts/memory-folder.mjs';
import { textFiles } from './scripts/text-files.mjs';

useMemoryFolder();

// Processes are killed here by the hundred: not a part of `npm test`, but of `npm run test:kill`.
export default defineConfig({
  plugins: [textFiles()],
  test: {
    include: ['test/kill/**/*.test.ts'],
    globalSetup: ['scripts/built-tests-setup.mjs'],
    fileParallelism: false,
    testTimeout: 3_600_000,
  },
});
