import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { useMemoryFolder } from './scripts/memory-folder.mjs';

/** Suites of hundreds or thousands of cases have a configuration and a command of their own. */
const ownSuites = ['test/kill/**', 'test/faults/every-*.test.ts'];

/** Large lists and many processes: not a part of `npm test`, but of `npm run test:long` (`--mode long`). */
const longTests = '*.long.test.ts';
const tests = '*.test.ts';

/** A third of the time would go into it. */
const isCovered = process.env['COVERAGE'] === '1';

/**
 * Most code runs a few times for each test: to optimize it as soon as usual costs more than it gives. Node 22
 * and later have no such option.
 */
const optimizesLate = process.versions.node.startsWith('20.') ? ['--interrupt-budget=600000'] : [];

/** The figures that `npm run verify` counts. */
const isReported = process.env['TEST_REPORT'] === '1';

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

// A developer's own service must never be asked, and paid, by a test.
delete process.env['SLUICE_BASE_URL'];
delete process.env['SLUICE_API_KEY'];

useMemoryFolder();

export default defineConfig(({ mode }) => {
  const isLong = mode === 'long';
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
      include: ['test/**', 'examples/**'].map(
        (folder) => `${folder}/${isLong ? longTests : tests}`,
      ),
      exclude: [...ownSuites, ...(isLong ? [] : [`**/${longTests}`])],
      globalSetup: ['test/prepare-tests.ts'],
      pool: 'forks',
      // Half of the time would go into loading the same modules for each file. What a file leaves behind
      // is then seen by the next: clean-up hangs on the test (onTestFinished), not on a file's hooks.
      isolate: false,
      // Workers live long and keep much. Room for what is young, no threads for the garbage that would take the
      // cores from other workers, and nothing compiled again that another file has not used for a while.
      execArgv: [
        '--single-threaded-gc',
        '--min-semi-space-size=32',
        '--max-semi-space-size=32',
        '--no-flush-bytecode',
        ...optimizesLate,
      ],
      // Many a test waits for a process, a server or a moment.
      maxWorkers: availableParallelism() + 1,
      // A change is not turned away by one unlucky moment of a machine; `npm run verify` names what it was.
      retry: process.env['CI'] ? 1 : 0,
      // Generous: a busy machine must not look like a hang.
      testTimeout: 120_000,
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
    },
  };
});
