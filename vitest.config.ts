import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { sourcesForTests } from './scripts/tests/compiled-sources.mjs';
import { LongestFirst } from './scripts/tests/longest-first.mjs';
import { useMemoryFolder } from './scripts/tests/memory-folder.mjs';
import { reportFile } from './scripts/tests/test-report.mjs';

/**
 * Tests of whole runs, and those that need more than Node and npm's packages or much time, are suites with names: `x.mail.test.ts`
 * belongs to the suite `mail`. All others are the suite `fast`, which is `npm test`.
 */
const named = [
  // whole runs and commands, from a list to its output; all of src/ at once
  'e2e',
  // PostgreSQL, PgBouncer, MariaDB, ClickHouse, Redis
  'databases',
  // Chromium
  'browser',
  // LibreOffice
  'office',
  // Exim, Postfix, postgrey, NSD, BIND
  'mail',
  // OpenStack Swift
  'storage',
  // systemd, zsh, fish
  'system',
  // the package as it is installed, the examples as they are read
  'package',
  // large lists and many processes; buildah
  'long',
  // the same with databases
  'long-databases',
];

const setups: Readonly<Record<string, string>> = {
  databases: 'test/lists/sql/harness/setup.ts',
  'long-databases': 'test/lists/sql/harness/setup.ts',
};

/** A third of the time would go into it. */
const isCovered = process.env['COVERAGE'] === '1';

/**
 * Most code runs a few times for each test: to optimize it as soon as usual costs more than it gives. Node 22
 * and later have no such option.
 */
const optimizesLate = process.versions.node.startsWith('20.') ? ['--interrupt-budget=600000'] : [];

/** Where `npm run verify` reads what became of each test. */
const report = process.env['TEST_REPORT'];

const source = (path: string) => fileURLToPath(new URL(`src/${path}`, import.meta.url));

// A developer's own service must never be asked, and paid, by a test.
delete process.env['SLUICE_BASE_URL'];
delete process.env['SLUICE_API_KEY'];

useMemoryFolder();

function suite(name: string, include: string, exclude: readonly string[] = []) {
  return {
    extends: true as const,
    test: {
      name,
      include: ['test', 'examples'].map((folder) => `${folder}/**/${include}`),
      // Suites of hundreds or thousands of cases have a configuration and a command of their own.
      exclude: ['test/trials/kill/**', 'test/trials/faults/every-*.test.ts', ...exclude],
      setupFiles: name === 'e2e' ? ['test/setup/lock-elsewhere.ts'] : [],
      globalSetup: ['test/setup/prepare-tests.ts', ...(name in setups ? [setups[name] ?? ''] : [])],
      // Generous: a busy machine must not look like a hang.
      testTimeout: name === 'fast' ? 60_000 : 120_000,
      expect: { poll: { timeout: name === 'fast' ? 45_000 : 90_000 } },
    },
  };
}

const loaded = sourcesForTests();

export default defineConfig({
  plugins: loaded.plugins,
  resolve: {
    // Examples import the package by its name, as its users do.
    alias: [
      { find: /^sluice$/, replacement: source('index.ts') },
      {
        find: /^sluice\/(contract|service|testing)$/,
        replacement: source('$1/index.ts'),
      },
      {
        find: /^sluice\/(errors|opentelemetry)$/,
        replacement: source('platform/$1/index.ts'),
      },
      { find: /^sluice\/s3$/, replacement: source('lists/remote/s3/index.ts') },
      {
        find: /^sluice\/(postgres|mysql|sqlite|duckdb)$/,
        replacement: source('lists/sql/$1/index.ts'),
      },
    ],
  },
  test: {
    projects: [
      suite(
        'fast',
        '*.test.ts',
        named.map((name) => `**/*.${name}.test.ts`),
      ),
      ...named.map((name) => suite(name, `*.${name}.test.ts`)),
    ],
    ...loaded.test,
    pool: 'forks',
    // Half of the time would go into loading the same modules for each file. What a file leaves behind
    // is then seen by the next: clean-up hangs on the test (onTestFinished), not on a file's hooks.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/setup/fixed-draws.ts'],
    // Workers live long and keep much. Room for what is young, no threads for the garbage that would take the
    // cores from other workers, and nothing compiled again that another file has not used for a while.
    execArgv: [
      '--single-threaded-gc',
      '--min-semi-space-size=32',
      '--max-semi-space-size=32',
      '--no-flush-bytecode',
      '--enable-source-maps',
      ...optimizesLate,
    ],
    // Many a test waits for a process, a server or a moment.
    maxWorkers: 2 * availableParallelism(),
    hookTimeout: 60_000,
    teardownTimeout: 5_000,
    reporters:
      report === undefined
        ? ['default']
        : ['default', ['json', { outputFile: reportFile(report) }]],
    coverage: {
      enabled: isCovered,
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html', 'json-summary'],
      reportsDirectory: 'coverage',
    },
  },
});
