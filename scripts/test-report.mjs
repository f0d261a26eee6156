import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { projectRoot } from './project.mjs';

/** Where vitest leaves its figures when TEST_REPORT=1, see vitest.config.ts. */
export const testReportFile = join(projectRoot, '.cache', 'test-report.json');

/**
 * Counts the tests of the last reported run. A run that ended badly with no failed test (an unhandled
 * error, a coverage threshold, a file that does not load) still counts as one failure. `retried` says of
 * each test that passed only when it was run again what its first run said.
 */
export async function countTests(exitCode) {
  const text = await readFile(testReportFile, 'utf8').catch(() => undefined);
  if (text === undefined) return { passed: 0, failed: 1, skipped: 0, retried: [] };
  const report = JSON.parse(text);
  const { numPassedTests: passed, numFailedTests, numPendingTests, numTodoTests } = report;
  const failed = exitCode !== 0 || passed === 0 ? Math.max(1, numFailedTests) : numFailedTests;
  const retried = report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]}`);
  return { passed, failed, skipped: numPendingTests + numTodoTests, retried };
}

/** The files of the last reported run that took longest, the slowest first. */
export async function slowestFiles(count) {
  const { testResults } = JSON.parse(await readFile(testReportFile, 'utf8'));
  return testResults
    .map(({ name, startTime, endTime, assertionResults }) => ({
      file: relative(projectRoot, name),
      seconds: (endTime - startTime) / 1000,
      tests: assertionResults.length,
    }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, count);
}
