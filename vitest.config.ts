import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { useMemoryFolder } from './scripts/memory-folder.mjs';

/** Tests of what is built and packed; all others run on the sources and need no build. */
const builtTests = ['test/cli/**', 'test/package/**'];

/** Tests against real database servers, which are started once for all of them. */
const databaseTests = ['test/databases/**'];

/** Suites of hundreds or thousands of cases have a configuration and a command of their own. */
const ownSuites = ['test/kill/**', 'test/faults/every-*.test.ts'];

/** Large lists and many processes: not a part of `npm test`, but of `npm run test:long` (`--mode long`). */
const longTests = '**/*.long.test.ts';

/** A third of the time would go into it. */
const isCovered = process.env['COVERAGE'] === '1';

/** The figures that `npm run verify` counts. */
const isReported = process.env['TEST_REPORT'] === '1';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

// A developer's own service must never be asked, and paid, by a test.
delete process.env['SLUICE_BASE_URL'];
delete process.env['SLUICE_API_KEY'];

useMemoryFolder();

export default defineConfig(({ mode }) => {
  const isLong = mode === 'long';
  const files = isLong ? '/*.long.test.ts' : '/*.test.ts';
  const exclude = isLong ? [] : [longTests];
  const within = (folders: readonly string[]) => folders.map((folder) => folder + files);
  return {
    resolve: {
      // Examples import the package by its name, as its users do.
      alias: [
        { find: /^sluice$/, replacement: source('index.ts') },
        {
          find: /^sluice\/(contract|service|testing|opentelemetry)$/,
          replacement: source('$1/index.ts'),
        },
        { find: /^sluice\/s3$/, replacement: source('places/s3/index.ts') },
        {
          find: /^sluice\/(postgres|mysql|sqlite|duckdb)$/,
          replacement: source('databases/$1/index.ts'),
        },
      ],
    },
    test: {
      pool: 'forks',
      // Half of the time would go into loading the same modules for each file. What a file leaves behind
      // is then seen by the next: clean-up hangs on the test (onTestFinished), not on a file's hooks.
      isolate: false,
      // Many a test waits for a process, a server or a moment.
      maxWorkers: availableParallelism() + 1,
      // A change is not turned away by one unlucky moment of a machine; `npm run verify` names what it was.
      retry: process.env['CI'] ? 1 : 0,
      // Generous: a busy machine must not look like a hang.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 30_000 } },
      teardownTimeout: 5_000,
      reporters: isReported
        ? ['default', ['json', { outputFile: '.cache/test-report.json' }]]
        : ['default'],
      coverage: {
        enabled: isCovered,
        provider: 'v8',
        include: ['src/**/*.ts'],
        reporter: ['text-summary', 'html', 'json-summary'],
        reportsDirectory: 'coverage',
      },
      projects: [
        {
          extends: true,
          test: {
            name: 'source',
            include: within(['test/**', 'examples/**']),
            exclude: [...builtTests, ...ownSuites, ...databaseTests, ...exclude],
          },
        },
        {
          extends: true,
          test: {
            name: 'databases',
            include: within(databaseTests),
            exclude,
            globalSetup: ['scripts/built-tests-setup.mjs', 'test/databases/start-servers.ts'],
          },
        },
        {
          extends: true,
          test: {
            name: 'built',
            include: within(builtTests),
            exclude,
            globalSetup: ['scripts/built-tests-setup.mjs'],
          },
        },
      ],
    },
  };
});
